// SPDX-License-Identifier: Apache-2.0
#define KVEXACT_COLUMN_KERNELS kAvx2ColumnKernels
#define KVEXACT_COLUMN_ISA "avx2+fma"
#include "reference/numerics/column_kernels.inc"
