// SPDX-License-Identifier: Apache-2.0
#define KVEXACT_COLUMN_KERNELS kBaseColumnKernels
#define KVEXACT_COLUMN_ISA "base"
#include "reference/numerics/column_kernels.inc"
