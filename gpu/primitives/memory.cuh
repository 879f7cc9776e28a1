// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvexact::gpu {

// A load that stays where it is written: the compiler may not move it behind a branch, where its latency would start
// later.
__device__ inline std::int64_t LoadNow(const std::int64_t* p) {
  std::int64_t v;
  asm volatile("ld.relaxed.gpu.global.s64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}

__device__ inline std::int32_t LoadNow(const std::int32_t* p) {
  std::int32_t v;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

// A bf16 or fp32 value as it lies in memory. Kept so until it is used: a conversion would wait for the load.
struct RawFloat {
  std::uint16_t half;
  std::uint32_t word;
};

// Entry `index` of an array of bf16 or fp32 values; stays where it is written (see LoadNow).
__device__ inline RawFloat LoadRawNow(const void* base, std::int64_t index, bool bf16) {
  RawFloat raw{};
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p ld.relaxed.gpu.global.u16 %0, [%2];\n@!p ld.relaxed.gpu.global.u32 "
      "%1, "
      "[%2];\n}"
      : "+h"(raw.half), "+r"(raw.word)
      : "l"(static_cast<const char*>(base) + index * (bf16 ? 2 : 4)), "r"(static_cast<unsigned>(bf16))
      : "memory");
  return raw;
}

__device__ inline float ValueOf(const RawFloat& raw, bool bf16) {
  return __uint_as_float(bf16 ? std::uint32_t{raw.half} << 16 : raw.word);
}

// 16 bytes that are read once: past the L1, which keeps nothing of them. `p` is 16-byte aligned.
__device__ inline float4 LoadStream(const float* p) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p));
  return v;
}

// As LoadStream, but they stay where they are written (see LoadNow).
__device__ inline float4 LoadStreamNow(const float4* p) {
  float4 v;
  asm volatile("ld.relaxed.gpu.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p)
               : "memory");
  return v;
}

// kCount (1 or 2) consecutive floats.
template <int kCount>
struct alignas(4 * kCount) FloatVector {
  float v[kCount];

  __device__ static FloatVector LoadStreamNow(const float* p) {
    FloatVector r;
    if constexpr (kCount == 1) {
      asm volatile("ld.relaxed.gpu.global.L1::no_allocate.f32 %0, [%1];" : "=f"(r.v[0]) : "l"(p) : "memory");
    } else {
      asm volatile("ld.relaxed.gpu.global.L1::no_allocate.v2.f32 {%0, %1}, [%2];"
                   : "=f"(r.v[0]), "=f"(r.v[1])
                   : "l"(p)
                   : "memory");
    }
    return r;
  }
};

// As LoadStream where `wanted`; leaves `v` as it is otherwise. No branch, so that loads stay in a row.
__device__ inline void LoadStreamIf(bool wanted, const float* p, float4& v) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n@p ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];\n}"
      : "+f"(v.x), "+f"(v.y), "+f"(v.z), "+f"(v.w)
      : "l"(p), "r"(static_cast<unsigned>(wanted)));
}

__device__ inline uint4 LoadStream(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

__device__ inline uint4 LoadStreamNow(const uint4* p) {
  uint4 v;
  asm volatile("ld.relaxed.gpu.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p)
               : "memory");
  return v;
}

__device__ inline std::uint32_t LoadStreamNow(const std::uint32_t* p) {
  std::uint32_t v;
  asm volatile("ld.relaxed.gpu.global.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

__device__ inline void PrefetchL2(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
__device__ inline void PrefetchL1(const void* p) { asm volatile("prefetch.global.L1 [%0];" ::"l"(p)); }

// 0, once `v` is known: a load from an address that this is added to starts behind the load of `v`. `zero` is 0.
__device__ inline int After(const float4& v, int zero) {
  return (__float_as_int(v.x) | __float_as_int(v.y) | __float_as_int(v.z) | __float_as_int(v.w)) & zero;
}

// Starts a copy of 16 bytes to shared memory, as a group of its own, where `wanted`; an empty group otherwise.
__device__ inline void CopyAsync(bool wanted, float4* to, const float* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p cp.async.cg.shared.global [%0], [%1], "
      "16;\ncp.async.commit_group;\n}" ::"r"(address),
      "l"(from), "r"(static_cast<unsigned>(wanted))
      : "memory");
}

// Starts a copy of 16 bytes that are read once to shared memory, as a part of the thread's next group.
__device__ inline void CopyAsyncStream(void* to, const void* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

// The same of kBytes (4, 8 or 16) that other threads may read soon.
template <int kBytes>
__device__ inline void CopyAsyncPiece(void* to, const float* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from), "n"(kBytes) : "memory");
}

// Waits for all copies of this thread.
__device__ inline void WaitAsyncAll() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Waits until at most the kPending youngest groups of this thread are under way.
template <int kPending>
__device__ inline void WaitAsync() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Four consecutive floats at any alignment that a float may have.
__device__ inline float4 LoadAny(const float* p, bool aligned) {
  if (aligned) return LoadStream(p);
  return make_float4(__ldg(p), __ldg(p + 1), __ldg(p + 2), __ldg(p + 3));
}

__device__ inline float Component(const float4& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

__device__ inline std::int64_t Shuffle(std::int64_t v, int lane) { return __shfl_sync(0xFFFFFFFFU, v, lane); }

}  // namespace kvexact::gpu
