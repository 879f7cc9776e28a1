// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace kvexact {

// Read-only and writable strided views over caller-owned memory. Rows are contiguous; the outer
// stride is in elements. Nothing is copied and nothing is owned.
template <class T>
using VectorView = Eigen::Map<const Eigen::Array<T, 1, Eigen::Dynamic>>;
template <class T>
using MatrixView = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, Eigen::Unaligned,
                              Eigen::OuterStride<>>;
template <class T>
using MutableVectorView = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;
template <class T>
using MutableMatrixView = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, Eigen::Unaligned,
                                     Eigen::OuterStride<>>;

}  // namespace kvexact
