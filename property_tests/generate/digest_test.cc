// SPDX-License-Identifier: Apache-2.0
// The same bytes on every machine, compiler and optimisation level: digests of cases, pinned. A change of the
// generator changes them and makes old reproduction lines mean other cases; a failure prints the new ones.
#include "property_tests/generate/digest.h"

#include <gtest/gtest.h>

#include "harness/generate/draw.h"
#include "harness/generate/generate.h"

namespace kvexact {
namespace {

struct Pinned {
  const char* text;
  std::uint64_t digest;  // FNV-1a, as test::Digest
};

constexpr Pinned kPinned[] = {
    {"op=sparse_attn", 0xC0A0503A0A477523},
    {"op=indexer_fp8 seed=7 requests=3+14,0+9 order=shuffled garbage=skipped tail=4 blocks=shared unread=values",
     0x25B628DB7D38A9D9},
    {"op=indexer_mxfp4 values=drive scores=drive weights=e2m1_mid angles=quarter", 0x6AE58135FE6F4F07},
    {"op=sparse_attn values=drive scores=drive weights=e4m3_edge angles=identity", 0xAEB9F451C40B1AB3},
    {"op=sparse_attn ratio=3 overlap=false block=5 width_pad=4 row_pad=7 block_pad=28 page=3 base=4 page_multiple=4 "
     "requests=0+20 values=bits scores=columns",
     0x5723DE04E736CEA9},
    {"op=two_stage requests=127+1x3,0+130 decode=3 skip_slots=20 skip_kv_slots=20 kv_slots_everywhere=true garbage=all "
     "scores=neginf",
     0x94B5CB0FA732D87A},
    {"op=gather_split ratio=16 splits=4 requests=5+30 values=overflow scores=cutoff unread=inf", 0x1CA26EA4D9E5B099},
    {"op=finalize ratio=4 scratch_pad=3 requests=0+12 values=groups weights=wide angles=wild", 0xE1EDD2598B2FDEC9},
    {"op=indexer_fp8 special=score_neginf_column weights=extreme values=subnormal scores=huge", 0xF4365D2CF86A05C4},
    {"op=indexer_q_fp8 fnuz=true values=e4m3_mid angles=quarter tail=2", 0x437A4706A2785697},
    {"op=indexer_q_mxfp4 heads=3 weight_type=bf16 out_type=bf16 angle_type=bf16 values=rows weights=sparse special=nan",
     0x646979F65DB0D1F8},
    {"op=indexer_q_mxfp4 values=heavy weights=bf16_mid requests=none", 0x05DAC08FBE16124A},
};

TEST(CaseDigest, IsPinned) {
  for (const Pinned& pinned : kPinned) {
    const std::uint64_t digest = test::Digest(Generate(ParseSpec(pinned.text)));
    EXPECT_EQ(digest, pinned.digest) << pinned.text << std::hex << " 0x" << digest;
  }
}

// Texts and bytes of a whole run.
TEST(RunDigest, IsPinned) {
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  std::uint64_t digest = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const CaseSpec spec = Draw(settings, index);
    for (const char c : ToText(spec)) digest = digest * 131 + static_cast<unsigned char>(c);
    digest = digest * 31 + test::Digest(Generate(spec));
  }
  EXPECT_EQ(digest, 0x6a0687bf793cb9e9U) << std::hex << digest;
}

}  // namespace
}  // namespace kvexact
