// SPDX-License-Identifier: Apache-2.0
// Digests of output buffers: what a GPU stored, kept as a number that any machine can compare with the reference.
#pragma once

#include <cstdint>
#include <span>

#include "harness/case/case.h"

namespace kvexact::gpu {

// Specs whose digests are kept (tests/h200_digests.txt), one a line.
std::span<const char* const> DigestSpecs();

// FNV-1a, 64 bits, over all bytes of all buffers in the order of their names.
std::uint64_t DigestOf(const TensorMap& outputs);

}  // namespace kvexact::gpu
