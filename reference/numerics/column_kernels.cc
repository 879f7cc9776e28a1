// SPDX-License-Identifier: Apache-2.0
#include "reference/numerics/column_kernels.h"

namespace kvexact {

extern const ColumnKernels kBaseColumnKernels;
#ifdef KVEXACT_HAVE_AVX2_KERNELS
extern const ColumnKernels kAvx2ColumnKernels;
#endif

const ColumnKernels& BaseColumnKernels() { return kBaseColumnKernels; }

const ColumnKernels* Avx2ColumnKernels() {
#ifdef KVEXACT_HAVE_AVX2_KERNELS
  static const bool supported = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return supported ? &kAvx2ColumnKernels : nullptr;
#else
  return nullptr;
#endif
}

const ColumnKernels& BestColumnKernels() {
  const ColumnKernels* avx2 = Avx2ColumnKernels();
  return avx2 != nullptr ? *avx2 : BaseColumnKernels();
}

}  // namespace kvexact
