// SPDX-License-Identifier: Apache-2.0
// What the host backend touches, and results that must not depend on how the work is cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "property_tests/backend/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;

constexpr std::int64_t kGarbage = std::int64_t{1} << 40;
constexpr Operation kSinglePass[] = {Operation::kSparseAttn, Operation::kIndexerFp8, Operation::kIndexerMxfp4};

// True for the bytes of the cache that a token of this slot stores, from the layout's definition.
void MarkStored(const Case& c, std::int64_t slot, std::vector<bool>& stored) {
  const spec::Layout& layout = *c.row().layout;
  const std::int64_t page = slot / 2 * c.outputs_before.at("kv_cache").dim(1) + 16;
  const std::int64_t token = page + slot % 2 * c.params.token_stride;
  const std::int64_t scales = page + 2 * c.params.token_stride + slot % 2 * c.params.scale_dim;
  const auto mark = [&](std::int64_t first, std::int64_t n) { std::fill_n(stored.begin() + first, n, true); };
  mark(token, layout.code_bytes());
  mark(token + layout.rope_offset, 2 * layout.rope_values);
  mark(scales, layout.scales() * layout.scale_bytes() + layout.pad_scales);
}

TEST(HostStructure, WritesTheStoredTokensAndNothingElse) {
  for (const Operation op : kSinglePass) {
    Case c = CompressCase(op, 12, 4, true);
    FillRandom(c, 3);
    Elements<std::int64_t>(c.inputs, "kv_slot_mapping")[7] = -1;
    const TensorMap out = RunHost(c);
    Case other = c;
    for (std::uint8_t& byte : other.outputs_before.at("kv_cache").byte_span()) byte = static_cast<std::uint8_t>(~byte);
    const TensorMap again = RunHost(other);
    const Tensor& before = c.outputs_before.at("kv_cache");
    std::vector<bool> stored(static_cast<std::size_t>(before.size_bytes()));
    for (const std::int64_t token : {3, 11}) MarkStored(c, 11 - token, stored);
    for (std::int64_t i = 0; i < before.size_bytes(); ++i) {
      const std::uint8_t first = out.at("kv_cache").bytes()[i];
      const std::uint8_t second = again.at("kv_cache").bytes()[i];
      if (stored[static_cast<std::size_t>(i)]) {
        ASSERT_EQ(first, second) << i;  // does not depend on what was there
      } else {
        ASSERT_EQ(first, before.bytes()[i]) << i;
        ASSERT_EQ(second, static_cast<std::uint8_t>(~first)) << i;
      }
    }
  }
}

// Tokens that an early exit skips, with garbage in everything behind that exit.
void SkipTokens(Case& c) {
  auto* slot = Elements<std::int64_t>(c.inputs, "slot_mapping");
  auto* position = Elements<std::int64_t>(c.inputs, "positions");
  auto* kv_slot = Elements<std::int64_t>(c.inputs, "kv_slot_mapping");
  std::int32_t* request = nullptr;
  if (c.row().reads_state) request = Elements<std::int32_t>(c.inputs, "token_to_req_indices");
  const auto garble = [&](std::int64_t token) {
    if (request != nullptr) request[token] = -(1 << 30);
    kv_slot[token] = kGarbage;
  };
  slot[3] = -1, position[3] = kGarbage, garble(3);
  slot[4] = -7, position[4] = -kGarbage, garble(4);
  position[5] = kGarbage, garble(5);  // kGarbage + 1 is odd
  position[6] = -kGarbage, garble(6);
  position[7] = kGarbage - 1, garble(7), kv_slot[7] = -1;  // at a boundary, but without a KV slot
}

TEST(HostStructure, SkippedTokensMayHoldGarbage) {
  for (const Operation op : kSinglePass) {
    Case c = CompressCase(op, 12, 4, false);
    FillRandom(c, 5);
    Case garbled = c;
    SkipTokens(garbled);
    auto* kv_slot = Elements<std::int64_t>(c.inputs, "kv_slot_mapping");
    kv_slot[3] = kv_slot[7] = -1;
    EXPECT_EQ(RunHost(garbled).at("kv_cache"), RunHost(c).at("kv_cache")) << c.row().name;
  }
}

TEST(HostStructure, FinalizeSkipsAndKeepsOrder) {
  Case c = CompressCase(Operation::kFinalize, 12, 4, false);
  FillRandom(c, 6);
  Case garbled = c;
  SkipTokens(garbled);
  std::fill_n(Elements<float>(garbled.inputs, "scratch") + 4 * 513, 513, 1e38F);
  auto* kv_slot = Elements<std::int64_t>(c.inputs, "kv_slot_mapping");
  kv_slot[3] = kv_slot[7] = -1;
  EXPECT_EQ(RunHost(garbled).at("kv_cache"), RunHost(c).at("kv_cache"));
}

TEST(HostStructure, GatherIgnoresTheKvSlotAndKeepsSkippedRows) {
  Case c = CompressCase(Operation::kGatherSplit, 8, 4, false);
  FillRandom(c, 7);
  Elements<std::int64_t>(c.inputs, "slot_mapping")[3] = -1;
  const TensorMap out = RunHost(c);
  for (std::int64_t row = 0; row < 8; ++row) {
    const auto* after = out.at("scratch").as<float>() + row * 513;
    const auto* before = c.outputs_before.at("scratch").as<float>() + row * 513;
    EXPECT_EQ(std::memcmp(after, before, 512 * 4) == 0, row != 7) << row;
    EXPECT_EQ(std::memcmp(after + 512, before + 512, 4), 0) << row;
  }
}

TEST(HostStructure, TokensBehindNumActualAreInert) {
  for (const Operation op : kSinglePass) {
    Case c = CompressCase(op, 8, 4, false);
    FillRandom(c, 8);
    c.params.num_actual = 5;
    Elements<std::int64_t>(c.inputs, "kv_slot_mapping")[7] = kGarbage;
    const TensorMap out = RunHost(c);
    const std::int64_t page = c.outputs_before.at("kv_cache").dim(1);
    EXPECT_EQ(0, std::memcmp(out.at("kv_cache").bytes(), c.outputs_before.at("kv_cache").bytes(),
                             static_cast<std::size_t>(page)));  // slots 0 and 1
    EXPECT_NE(out.at("kv_cache"), c.outputs_before.at("kv_cache"));
  }
}

Case SparseCase(std::int64_t tokens, std::int64_t ratio) {
  Case c = CompressCase(Operation::kSparseAttn, tokens, ratio, false);
  FillRandom(c, 9);
  return c;
}

TEST(HostStructure, GatherThenFinalizeEqualsOnePassForEverySplit) {
  const Case one_pass = SparseCase(40, 8);
  const Tensor expected = RunHost(one_pass).at("kv_cache");
  for (const std::int64_t splits : {1, 2, 4, 8, 16, 512}) {
    Case gather = CompressCase(Operation::kGatherSplit, 40, 8, false);
    gather.params.num_splits = splits;
    for (const char* name : {"state_cache", "block_table", "slot_mapping", "positions", "token_to_req_indices"}) {
      gather.inputs[name] = one_pass.inputs.at(name);
    }
    Case finalize = CompressCase(Operation::kFinalize, 40, 8, false);
    for (const char* name : {"slot_mapping", "positions", "kv_slot_mapping", "rms_norm_weight", "cos_sin_cache"}) {
      finalize.inputs[name] = one_pass.inputs.at(name);
    }
    finalize.inputs["scratch"] = RunHost(gather).at("scratch");
    finalize.outputs_before = one_pass.outputs_before;
    EXPECT_EQ(RunHost(finalize).at("kv_cache"), expected) << splits;
  }
}

TEST(HostStructure, TwoStageEqualsOnePassForEveryDecodeCount) {
  Case c = SparseCase(40, 8);
  Elements<std::int64_t>(c.inputs, "slot_mapping")[15] = -1;
  Elements<std::int64_t>(c.inputs, "kv_slot_mapping")[31] = -1;
  const Tensor expected = RunHost(c).at("kv_cache");
  c.op = Operation::kTwoStage;
  for (const std::int64_t decodes : {-3, 0, 1, 8, 17, 39, 40, 1000}) {
    c.params.num_decode_tokens = decodes;
    EXPECT_EQ(RunHost(c).at("kv_cache"), expected) << decodes;
  }
}

TEST(HostStructure, ThreadsDoNotChangeTheResult) {
  Case c = SparseCase(1600, 4);  // large enough to leave the calling thread
  EXPECT_EQ(RunHost(c, 1).at("kv_cache"), RunHost(c, 4).at("kv_cache"));
  c.op = Operation::kTwoStage;
  c.params.num_decode_tokens = 100;
  EXPECT_EQ(RunHost(c, 1).at("kv_cache"), RunHost(c, 4).at("kv_cache"));
  Case q = IndexerQCase(Operation::kIndexerQFp8, 40, 64, DType::kF32, DType::kF32);
  FillRandom(q, 10);
  EXPECT_EQ(RunHost(q, 1), RunHost(q, 4));
}

}  // namespace
}  // namespace kvexact
