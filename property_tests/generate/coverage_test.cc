// SPDX-License-Identifier: Apache-2.0
// Everything that the generator is meant to reach occurs, seen in the cases, not in the specs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "harness/case/token_fate.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"

namespace kvexact {
namespace {

using spec::Operation;

constexpr std::uint64_t kCases = 2000;  // of a default run
constexpr std::uint64_t kSeeds = 4;

// Cases that show a feature, by its name.
class Features {
 public:
  void Saw(const std::string& name) { ++counts_[name]; }
  void SawIf(bool seen, const std::string& name) {
    if (seen) Saw(name);
  }
  int Count(const std::string& name) const {
    const auto found = counts_.find(name);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, int> counts_;
};

class CompressCase {
 public:
  explicit CompressCase(const Case& c) : case_(c), binding_(c), in_(binding_.inputs()), fates_(TokenFates(c)) {}

  void Look(Features& f) const {
    LookAtTokens(f);
    LookAtShapes(f);
    if (case_.row().reads_state) LookAtState(f);
    if (case_.row().layout != nullptr) LookAtCache(f);
  }

 private:
  TokenFate FateOf(std::int64_t token) const { return fates_[static_cast<std::size_t>(token)]; }

  void LookAtTokens(Features& f) const {
    const std::string op = case_.row().name;
    const std::int64_t tokens = in_.positions.size();
    std::map<TokenFate, int> fates;
    std::set<std::string> seen;
    bool sorted = true;
    for (std::int64_t i = 0; i < tokens; ++i) {
      const TokenFate fate = FateOf(i);
      ++fates[fate];
      const std::int64_t position = in_.positions[i];
      if (i > 0 && i < in_.num_actual) sorted = sorted && position >= in_.positions[i - 1];
      if (fate == TokenFate::kLive) {
        if (position < in_.window_rows() - 1) seen.insert("window that begins before position 0");
        if (position >= in_.window_rows() - 1) seen.insert("whole window");
        if (position >= 4000) seen.insert("far position");
        if (position >= 1 << 15) seen.insert("very far position");
        if (in_.slot_mapping[i] == 0) seen.insert("state slot 0");
        if (in_.slot_mapping[i] >= std::int64_t{1} << 31) seen.insert("state slot beyond 31 bits");
        if (in_.kv_slot_mapping.size() > 0 && in_.kv_slot_mapping[i] >= 1 << 15) seen.insert("KV slot beyond 15 bits");
        if (in_.token_to_req.size() > 0 && in_.token_to_req[i] >= 256) seen.insert("request beyond 8 bits");
        if (position >= in_.ratio && in_.ratio > 1) seen.insert("position unlike the window's start");
      }
      const bool ends = position >= 0 && position % in_.ratio == in_.ratio - 1 && position < (1 << 30);
      if (in_.kv_slot_mapping.size() > 0) {
        const std::int64_t kv_slot = in_.kv_slot_mapping[i];
        const std::int64_t slots = Slots();
        if (fate == TokenFate::kNegativeSlot && ends && kv_slot >= 0 && kv_slot < slots) {
          seen.insert("negative slot with a KV slot");
        }
        if (fate == TokenFate::kNegativeSlot && ends && kv_slot < 0) seen.insert("both slots negative");
        if (fate == TokenFate::kNotBoundary && kv_slot >= 0 && kv_slot < slots) seen.insert("KV slot within a window");
        if (fate == TokenFate::kNotBoundary && kv_slot >= slots) seen.insert("garbage KV slot within a window");
        if (fate == TokenFate::kInert && ends && kv_slot >= 0 && kv_slot < slots)
          seen.insert("tail that could be stored");
      }
      if (fate == TokenFate::kNegativeSlot && (position < 0 || position >= (1 << 30))) {
        seen.insert("garbage position of a negative slot");
      }
      if (fate == TokenFate::kNotBoundary && position >= (1 << 30)) seen.insert("garbage position within a window");
      if (fate == TokenFate::kNegativeSlot && in_.slot_mapping[i] < -1) seen.insert("state slot below -1");
      if (fate == TokenFate::kNegativeKvSlot && in_.kv_slot_mapping[i] < -1) seen.insert("KV slot below -1");
      if (in_.token_to_req.size() > 0 && fate != TokenFate::kLive && in_.token_to_req[i] == 1 << 30) {
        seen.insert("garbage request");
      }
      if (fate == TokenFate::kInert && position == std::numeric_limits<std::int64_t>::max()) {
        seen.insert("garbage tail");
      }
    }
    for (const std::string& name : seen) f.Saw(name);
    f.SawIf(!sorted, "tokens out of order");
    f.SawIf(tokens == 0, "no tokens");
    f.SawIf(tokens >= 1000, "a thousand tokens");
    f.SawIf(tokens > 65536 && fates[TokenFate::kLive] > 0, "tokens beyond 16 bits");
    f.SawIf(in_.num_actual > 0 && fates[TokenFate::kLive] == 0, "no live tokens");
    f.SawIf(fates[TokenFate::kNegativeKvSlot] > 0, "negative KV slot");
    f.SawIf(in_.num_actual >= 4 && fates[TokenFate::kNotBoundary] == 0, "every token ends a window");
    f.SawIf(fates[TokenFate::kLive] > 0, op + " live");
    f.SawIf(in_.ratio == 1 && fates[TokenFate::kLive] > 0, "ratio 1");
    f.SawIf(in_.ratio > 1 && (in_.ratio & (in_.ratio - 1)) != 0, "ratio that is no power of two");
    f.SawIf(in_.ratio >= 200, "ratio above 200");
    if (case_.op == Operation::kTwoStage && in_.num_actual > 0) {
      f.SawIf(in_.num_decode_tokens < 0, "negative decode count");
      f.SawIf(in_.num_decode_tokens > in_.num_actual, "decode count above num_actual");
      f.SawIf(in_.num_decode_tokens > 0 && in_.num_decode_tokens < in_.num_actual, "decode and prefill mixed");
    }
    f.SawIf(case_.op == Operation::kGatherSplit && in_.num_splits > 1, "several splits");
  }

  std::int64_t Slots() const { return CacheOf(case_).pages * CacheOf(case_).page_tokens; }

  void LookAtShapes(Features& f) const {
    const Params& p = case_.params;
    if (case_.row().reads_state) {
      f.SawIf(p.overlap, "overlap");
      f.SawIf(!p.overlap && p.head_dim == 128, "indexer without overlap");
      f.SawIf(p.state_width > p.head_dim * (p.overlap ? 2 : 1), "padded state width");
      f.SawIf(p.state_row_stride > 2 * p.state_width, "padded state rows");
      f.SawIf(in_.state_cache.cols() > p.block_size * p.state_row_stride, "padded state blocks");
      f.SawIf(p.block_size == 1, "state blocks of one position");
      f.SawIf(p.block_size > in_.window_rows(), "state blocks longer than the window");
      f.SawIf(in_.block_table.rows() >= 100, "a hundred requests");
      f.SawIf(in_.block_table.rows() == 0, "no requests");
      f.SawIf(in_.state_cache.rows() > 256, "state blocks beyond 8 bits");
    }
    if (case_.row().layout != nullptr) {
      f.SawIf(in_.cos_sin.cols() > p.rope_head_dim, "padded cos/sin rows");
      f.SawIf(p.rope_head_dim != 64, "another rotated width");
      f.SawIf(case_.inputs.at("rms_norm_weight").dtype() == DType::kBf16, "bf16 norm weight");
      f.SawIf(p.rms_norm_eps != 1e-6, "another eps");
    }
    f.SawIf(in_.scratch.cols() > 512, "padded scratch input");
    const auto scratch = case_.outputs_before.find("scratch");
    f.SawIf(scratch != case_.outputs_before.end() && scratch->second.dim(1) > 512, "padded scratch output");
  }

  void LookAtState(Features& f) const {
    std::set<std::string> seen;
    std::map<std::int32_t, std::set<std::int32_t>> readers;  // requests that read a block
    for (std::int64_t token = 0; token < in_.num_actual; ++token) {
      if (FateOf(token) != TokenFate::kLive) continue;
      const std::int32_t request = in_.token_to_req[token];
      const std::int64_t first = std::max<std::int64_t>(in_.positions[token] - in_.window_rows() + 1, 0);
      for (std::int64_t at = first; at <= in_.positions[token]; ++at) {
        const std::int64_t column = at / in_.block_size;
        const std::int32_t block = in_.block_table(request, column);
        readers[block].insert(request);
        if (block != column) seen.insert("block unlike its column");
        if (column > 0 && at > first && at % in_.block_size == 0 && block < in_.block_table(request, column - 1)) {
          seen.insert("blocks out of order");
        }
        const float* row =
            in_.state_cache.data() + block * in_.state_cache.outerStride() + at % in_.block_size * in_.state_row_stride;
        const bool current = at > in_.positions[token] - in_.ratio;
        LookAtRow(row + (current && in_.overlap ? in_.head_dim : 0), seen);
      }
    }
    for (const auto& [block, requests] : readers) {
      if (requests.size() > 1) seen.insert("block that requests share");
    }
    for (Eigen::Index i = 0; i < in_.block_table.size(); ++i) {
      const std::int32_t entry = in_.block_table.data()[i];
      seen.insert(entry == 1 << 30 ? "poisoned table entry" : "valid table entry");
    }
    std::int64_t nans = 0;
    std::int64_t infinities = 0;
    for (Eigen::Index i = 0; i < in_.state_cache.size(); i += 61) {
      nans += std::isnan(in_.state_cache.data()[i]) ? 1 : 0;
      infinities += std::isinf(in_.state_cache.data()[i]) ? 1 : 0;
    }
    if (nans > 2) seen.insert("unread NaN");
    if (infinities > 2 && !NonFinite(ParseSpec(case_.notes.at("spec")))) seen.insert("unread infinity");
    for (const std::string& name : seen) f.Saw(name);
  }

  void LookAtRow(const float* row, std::set<std::string>& seen) const {
    for (std::int64_t i = 0; i < in_.head_dim; i += 3) {
      const float kv = row[i];
      const float score = row[in_.state_width + i];
      if (kv == 0 && std::signbit(kv)) seen.insert("KV of -0");
      if (std::fpclassify(kv) == FP_SUBNORMAL) seen.insert("subnormal KV");
      if (std::abs(kv) > 0x1p63F && std::isfinite(kv)) seen.insert("KV whose square overflows");
      if (std::abs(kv) == 0x1p20F) seen.insert("driven KV");
      if (std::isinf(score) && score < 0) seen.insert("score of -inf");
      if (score > 900) seen.insert("score above 900");
      if (score < -900 && std::isfinite(score)) seen.insert("score below -900");
      if (std::fpclassify(score) == FP_SUBNORMAL) seen.insert("subnormal score");
      if (std::isnan(kv)) seen.insert("NaN among KV");
      if (std::isinf(kv)) seen.insert("infinity among KV");
      if (std::isnan(score)) seen.insert("NaN among scores");
      if (std::isinf(score) && score > 0) seen.insert("score of +inf");
      if (i > 0 && score == row[in_.state_width]) seen.insert("equal scores");
    }
  }

  void LookAtCache(Features& f) const {
    const spec::PagedCache cache = CacheOf(case_);
    const spec::Layout& own = *case_.row().layout;
    f.SawIf(cache.page_stride > cache.base_offset + cache.page_used(), "padded pages");
    f.SawIf(cache.page_stride == cache.page_used(), "pages without padding");
    f.SawIf(cache.base_offset > 0, "cache at an offset");
    f.SawIf(cache.layout.token_stride > own.token_stride, "padded tokens");
    f.SawIf(cache.layout.scale_stride > own.scale_stride, "padded scales");
    f.SawIf(cache.page_tokens == 1, "pages of one token");
    f.SawIf(cache.pages > 256, "pages beyond 8 bits");
    std::vector<std::int64_t> slots;
    std::set<std::int64_t> pages;
    for (std::int64_t token = 0; token < in_.num_actual; ++token) {
      if (FateOf(token) != TokenFate::kLive) continue;
      slots.push_back(in_.kv_slot_mapping[token]);
      pages.insert(slots.back() / cache.page_tokens);
    }
    if (slots.size() > 2) {
      f.SawIf(std::is_sorted(slots.begin(), slots.end()), "KV slots in order");
      f.SawIf(std::is_sorted(slots.rbegin(), slots.rend()), "KV slots reversed");
      f.SawIf(!std::is_sorted(slots.begin(), slots.end()) && pages.size() > 1, "KV slots over several pages");
    }
  }

  const Case& case_;
  CompressBinding binding_;
  const CompressInputs& in_;
  std::vector<TokenFate> fates_;
};

void LookAtQ(const Case& c, Features& f) {
  const IndexerQBinding binding(c);
  const IndexerQInputs& in = binding.inputs();
  f.SawIf(in.num_actual > 0, std::string(c.row().name) + " live");
  f.SawIf(in.heads == 1, "one head");
  f.SawIf(in.heads == 64, "64 heads");
  f.SawIf(in.heads > 64, "more than 64 heads");
  f.SawIf(in.num_actual > 32, "more than 32 tokens of Q");
  f.SawIf((in.heads & (in.heads - 1)) != 0, "heads that are no power of two");
  f.SawIf(in.codes == QCodes::kE4M3Fnuz, "FNUZ codes");
  f.SawIf(in.weights_out_bf16, "bf16 weights out");
  f.SawIf(c.inputs.at("index_weights").dtype() == DType::kF32, "fp32 weights");
  f.SawIf(c.inputs.at("cos_sin_cache").dtype() == DType::kBf16, "bf16 cos/sin");
  f.SawIf(in.tokens > in.num_actual, "Q with a tail");
  bool nan = false;
  bool infinity = false;
  for (Eigen::Index i = 0; i < in.num_actual * in.heads * in.head_dim; ++i) {
    const int magnitude = in.q.data()[i] & 0x7FFF;
    nan |= magnitude > 0x7F80;
    infinity |= magnitude == 0x7F80;
  }
  f.SawIf(nan, "NaN in Q");
  f.SawIf(infinity, "infinity in Q");
}

TEST(DefaultRun, ReachesEveryFeature) {
  Features features;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    DrawSettings settings;
    for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
    settings.seed = seed;
    for (std::uint64_t index = 0; index < kCases; ++index) {
      const Case c = Generate(Draw(settings, index));
      if (c.row().family == spec::Family::kCompress) {
        CompressCase(c).Look(features);
      } else {
        LookAtQ(c, features);
      }
    }
  }
  for (const char* name : {"window that begins before position 0",
                           "whole window",
                           "far position",
                           "very far position",
                           "position unlike the window's start",
                           "state slot 0",
                           "state slot beyond 31 bits",
                           "state slot below -1",
                           "KV slot beyond 15 bits",
                           "KV slot below -1",
                           "request beyond 8 bits",
                           "a thousand tokens",
                           "tokens beyond 16 bits",
                           "state blocks beyond 8 bits",
                           "pages beyond 8 bits",
                           "more than 64 heads",
                           "more than 32 tokens of Q",
                           "negative slot with a KV slot",
                           "both slots negative",
                           "KV slot within a window",
                           "garbage KV slot within a window",
                           "tail that could be stored",
                           "garbage position of a negative slot",
                           "garbage position within a window",
                           "garbage request",
                           "garbage tail",
                           "tokens out of order",
                           "no tokens",
                           "no live tokens",
                           "negative KV slot",
                           "every token ends a window",
                           "sparse_attn live",
                           "indexer_fp8 live",
                           "indexer_mxfp4 live",
                           "two_stage live",
                           "gather_split live",
                           "finalize live",
                           "indexer_q_fp8 live",
                           "indexer_q_mxfp4 live",
                           "ratio 1",
                           "ratio that is no power of two",
                           "ratio above 200",
                           "negative decode count",
                           "decode count above num_actual",
                           "decode and prefill mixed",
                           "several splits",
                           "overlap",
                           "indexer without overlap",
                           "padded state width",
                           "padded state rows",
                           "padded state blocks",
                           "state blocks of one position",
                           "state blocks longer than the window",
                           "a hundred requests",
                           "no requests",
                           "padded cos/sin rows",
                           "another rotated width",
                           "bf16 norm weight",
                           "another eps",
                           "padded scratch input",
                           "padded scratch output",
                           "block unlike its column",
                           "blocks out of order",
                           "block that requests share",
                           "poisoned table entry",
                           "valid table entry",
                           "unread NaN",
                           "unread infinity",
                           "KV of -0",
                           "subnormal KV",
                           "KV whose square overflows",
                           "driven KV",
                           "score of -inf",
                           "score above 900",
                           "score below -900",
                           "subnormal score",
                           "NaN among KV",
                           "infinity among KV",
                           "NaN among scores",
                           "score of +inf",
                           "equal scores",
                           "padded pages",
                           "pages without padding",
                           "cache at an offset",
                           "padded tokens",
                           "padded scales",
                           "pages of one token",
                           "KV slots in order",
                           "KV slots reversed",
                           "KV slots over several pages",
                           "one head",
                           "64 heads",
                           "heads that are no power of two",
                           "FNUZ codes",
                           "bf16 weights out",
                           "fp32 weights",
                           "bf16 cos/sin",
                           "Q with a tail",
                           "NaN in Q",
                           "infinity in Q"}) {
    EXPECT_GE(features.Count(name), 2) << name;
    RecordProperty(name, features.Count(name));
  }
}

// Of the kinds, only `extreme` KV is left to specs by hand (its sums overflow in some orders).
TEST(DefaultRun, UsesEveryKind) {
  std::map<std::string, int> kinds;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    DrawSettings settings;
    for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
    settings.seed = seed;
    for (std::uint64_t index = 0; index < kCases; ++index) {
      const CaseSpec spec = Draw(settings, index);
      const bool compress = spec::row(spec.config.op).family == spec::Family::kCompress;
      ++kinds[(compress ? "kv " : "q ") + std::string(NameOf(spec.values))];
      ++kinds[(compress ? "norm " : "weight ") + std::string(NameOf(spec.weights))];
      ++kinds["score " + std::string(NameOf(spec.scores))];
      ++kinds["special " + std::string(NameOf(spec.special))];
      ++kinds["angles " + std::string(NameOf(spec.angles))];
      ++kinds["unread " + std::string(NameOf(spec.unread))];
      ++kinds["blocks " + std::string(NameOf(spec.blocks))];
      EXPECT_NE(spec.garbage, generate::Garbage::kAll);
    }
  }
  for (const std::string_view name : generate::kScoreKindNames)
    EXPECT_GT(kinds["score " + std::string(name)], 0) << name;
  for (const std::string_view name : generate::kSpecialNames)
    EXPECT_GT(kinds["special " + std::string(name)], 0) << name;
  for (const std::string_view name : generate::kAngleKindNames)
    EXPECT_GT(kinds["angles " + std::string(name)], 0) << name;
  for (const std::string_view name : generate::kUnreadNames) EXPECT_GT(kinds["unread " + std::string(name)], 0) << name;
  for (const std::string_view name : generate::kBlockOrderNames)
    EXPECT_GT(kinds["blocks " + std::string(name)], 0) << name;
  for (const char* name : {"normal", "heavy", "negative", "wide", "groups", "rows", "constant", "integers", "cancel",
                           "near_eps", "tiny", "huge", "overflow", "subnormal", "zero", "sparse", "bits"}) {
    EXPECT_GT(kinds[std::string("kv ") + name], 0) << name;
    EXPECT_GT(kinds[std::string("q ") + name], 0) << name;
  }
  EXPECT_GT(kinds["kv drive"], 0);
  EXPECT_EQ(kinds["kv extreme"], 0);
  for (const char* name : {"e4m3_mid", "e4m3_edge", "e2m1_mid", "e2m1_edge", "bf16_mid"}) {
    EXPECT_GT(kinds[std::string("norm ") + name], 0) << name;
    EXPECT_GT(kinds[std::string("q ") + name], 0) << name;
  }
  for (const char* name :
       {"near_one", "one", "normal", "heavy", "wide", "groups", "sparse", "zero", "tiny", "huge", "extreme"}) {
    EXPECT_GT(kinds[std::string("norm ") + name], 0) << name;
  }
  for (const char* name : {"normal", "near_one", "wide", "sparse", "one"}) {
    EXPECT_GT(kinds[std::string("weight ") + name], 0) << name;
  }
}

}  // namespace
}  // namespace kvexact
