// SPDX-License-Identifier: Apache-2.0
// Other arithmetics for the production kernels, to see what the strict one costs and what bounds it. Libraries that are
// timed beside libkvexact_cuda.so; nothing else uses them.
#pragma once

#include "gpu/primitives/arithmetic.cuh"

namespace kvexact::gpu {

// What an implementation free of the strict model would use.
struct Fast {
  __device__ static float Weight(float d, WeightConstants) {
    float w;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(w) : "f"(d * spec::kLog2E));
    return w;
  }
  __device__ static float4 Divide(const float4& a, const float4& b) {
    return make_float4(__fdividef(a.x, b.x), __fdividef(a.y, b.y), __fdividef(a.z, b.z), __fdividef(a.w, b.w));
  }
  __device__ static float Divide(float a, float b) { return __fdividef(a, b); }
  __device__ static float ReciprocalRoot(float v) { return rsqrtf(v); }
};

// The same loads and stores, next to no arithmetic.
struct Probe {
  __device__ static float Weight(float d, WeightConstants) { return d; }
  __device__ static float4 Divide(const float4& a, const float4& b) {
    return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
  }
  __device__ static float Divide(float a, float b) { return a * b; }
  __device__ static float ReciprocalRoot(float v) { return v; }
};

}  // namespace kvexact::gpu
