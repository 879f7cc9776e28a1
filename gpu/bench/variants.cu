// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "gpu/bench/device.h"
#include "gpu/bench/variants.h"
#include "gpu/operations/compress_arguments.h"
#include "gpu/operations/indexer_launch.cuh"
#include "gpu/operations/sparse_attn_launch.cuh"

namespace kvexact::gpu::bench {
namespace {

struct Probe {
  __device__ static float Weight(float d, WeightConstants) { return d; }
  __device__ static float4 Divide(const float4& a, const float4& b) {
    return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
  }
  __device__ static float ReciprocalRoot(float v) { return v; }
};

template <class Arithmetic>
cudaError_t LaunchWith(const CompressDescription& d, cudaStream_t stream) {
  Machine machine;
  if (!ThisMachine(machine).ok()) return cudaErrorNoDevice;
  const CompressArguments arguments = ArgumentsOf(d);
  if (d.ratio == 128) return LaunchSparseRatio128With<Arithmetic>(arguments, machine, stream);
  if (d.head_dim == 512) return LaunchSparseRatio4With<Arithmetic>(arguments, machine, stream);
  return LaunchIndexerRatio4With<Arithmetic>(arguments, d.op == spec::Operation::kIndexerMxfp4, machine, stream);
}

}  // namespace

const char* NameOf(Variant variant) {
  switch (variant) {
    case Variant::kStrict:
      return "strict";
    case Variant::kFast:
      return "fast";
    case Variant::kProbe:
      break;
  }
  return "probe";
}

void LaunchVariant(const CompressDescription& d, Variant variant, cudaStream_t stream) {
  switch (variant) {
    case Variant::kStrict:
      if (const Status s = Launch(d, stream); !s.ok()) {
        std::fprintf(stderr, "kvexact_bench_gpu: %s\n", s.message.c_str());
        std::exit(4);
      }
      return;
    case Variant::kFast:
      Require(LaunchWith<Fast>(d, stream));
      return;
    case Variant::kProbe:
      Require(LaunchWith<Probe>(d, stream));
      return;
  }
}

}  // namespace kvexact::gpu::bench
