// SPDX-License-Identifier: Apache-2.0
#include "gpu/tests/digest.h"

namespace kvexact::gpu {
namespace {

constexpr const char* kSpecs[] = {
    "op=sparse_attn requests=0+1024x2 seed=11",
    "op=sparse_attn requests=0+512x1 values=heavy scores=high weights=one seed=12",
    "op=sparse_attn requests=0+256x1 special=nan seed=13",
    "op=sparse_attn ratio=128 overlap=false block=8 page=2 requests=0+1024x4 seed=14",
    "op=sparse_attn ratio=8 requests=0+512x2 page=5 seed=15",
    "op=indexer_fp8 requests=0+1024x2 order=shuffled skip_slots=10 seed=16",
    "op=indexer_fp8 ratio=3 block=7 requests=0+512x1 rope=30 seed=17",
    "op=indexer_mxfp4 requests=0+1024x2 seed=18",
    "op=indexer_mxfp4 requests=0+512x1 special=nan seed=19",
    "op=two_stage requests=0+1024x2 decode=300 seed=20",
    "op=gather_split requests=0+1024x2 splits=4 seed=21",
    "op=finalize requests=0+1024x2 seed=22",
    "op=indexer_q_fp8 heads=64 requests=0+128x1 seed=23",
    "op=indexer_q_fp8 fnuz=true heads=24 requests=0+128x1 seed=24",
    "op=indexer_q_mxfp4 heads=64 requests=0+128x1 values=e2m1_mid seed=25",
    "op=indexer_q_mxfp4 heads=64 requests=0+128x1 special=nan seed=26",
};

}  // namespace

std::span<const char* const> DigestSpecs() { return kSpecs; }

std::uint64_t DigestOf(const TensorMap& outputs) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const auto& [name, tensor] : outputs) {
    for (const std::uint8_t byte : tensor.byte_span()) hash = (hash ^ byte) * 0x100000001B3U;
  }
  return hash;
}

}  // namespace kvexact::gpu
