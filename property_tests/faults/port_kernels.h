// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/numerics/column_kernels.h"

namespace kvexact {

// An honest port's arithmetic behind the strict model's table: libm's exponential, weights divided by their sum first,
// every sum in reverse order, no fused multiply-add.
const ColumnKernels& PortKernels();

}  // namespace kvexact
