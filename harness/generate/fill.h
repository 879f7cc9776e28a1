// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "harness/case/tensor.h"
#include "harness/generate/kinds.h"

namespace kvexact::generate {

// Fills an F32 or BF16 tensor, or a span, with what may not be read.
void FillUnread(Unread unread, std::uint64_t stream, Tensor& tensor);
void FillUnread(Unread unread, std::uint64_t stream, std::span<float> values);

// Random bytes: what output buffers hold before a run.
void FillBytes(std::uint64_t stream, Tensor& tensor);

// Writes `values` from element `first` of an F32 or BF16 tensor on, rounding to nearest even.
void Store(std::span<const float> values, Tensor& tensor, std::int64_t first);

}  // namespace kvexact::generate
