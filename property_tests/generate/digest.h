// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/case/case.h"

namespace kvexact::test {

// FNV-1a, 64 bits, over the case's bytes: every input and output tensor in the order of its name, each as
// name, element size, extents and bytes.
std::uint64_t Digest(const Case& c);

}  // namespace kvexact::test
