// SPDX-License-Identifier: Apache-2.0
// Every unusable entry is refused by name, and entries that nothing reads are not looked at.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "property_tests/case/read_live_entries.h"
#include "property_tests/case/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;
using test::Set;
using test::SmallCase;

constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Change {
  std::string name;
  Operation op;
  std::string field;  // that the error names
  std::function<void(Case&)> apply;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

std::string NameOfChange(const testing::TestParamInfo<Change>& info) { return info.param.name; }

Change Param(std::string name, Operation op, std::int64_t Params::*field, std::int64_t value, std::string error) {
  return {std::move(name), op, std::move(error), [=](Case& c) { c.params.*field = value; }};
}

Change Number(std::string name, Operation op, double Params::*field, double value, std::string error) {
  return {std::move(name), op, std::move(error), [=](Case& c) { c.params.*field = value; }};
}

template <class T>
Change Entry(std::string name, Operation op, const char* tensor, std::int64_t i, T value) {
  return {std::move(name), op, tensor, [=](Case& c) { Set<T>(c.inputs.at(tensor), i, value); }};
}

Change Input(std::string name, Operation op, const char* tensor, DType dtype, const std::vector<std::int64_t>& shape,
             const char* error = nullptr) {
  return {std::move(name), op, error != nullptr ? error : tensor,
          [=](Case& c) { c.inputs[tensor] = Tensor(dtype, shape); }};
}

Change Output(std::string name, Operation op, const char* tensor, DType dtype, const std::vector<std::int64_t>& shape) {
  return {std::move(name), op, std::string(tensor) + "_before",
          [=](Case& c) { c.outputs_before[tensor] = Tensor(dtype, shape); }};
}

const Operation kSparse = Operation::kSparseAttn;
const Operation kFp8 = Operation::kIndexerFp8;
const Operation kMxfp4 = Operation::kIndexerMxfp4;
const Operation kTwoStage = Operation::kTwoStage;
const Operation kGather = Operation::kGatherSplit;
const Operation kFinalize = Operation::kFinalize;
const Operation kQFp8 = Operation::kIndexerQFp8;
const Operation kQMxfp4 = Operation::kIndexerQMxfp4;

std::vector<Change> BadParameters() {
  return {
      Param("head_dim_zero", kSparse, &Params::head_dim, 0, "head_dim"),
      Param("head_dim_of_another_operation", kFp8, &Params::head_dim, 512, "head_dim"),
      Param("ratio_zero", kSparse, &Params::compress_ratio, 0, "compress_ratio"),
      Param("ratio_negative", kFinalize, &Params::compress_ratio, -2, "compress_ratio"),
      Param("window_beyond_the_model", kSparse, &Params::compress_ratio, 513, "compress_ratio"),
      Param("ratio_huge", kGather, &Params::compress_ratio, kHighest, "compress_ratio"),
      Param("num_actual_negative", kSparse, &Params::num_actual, -1, "num_actual"),
      Param("num_actual_beyond_tokens", kQFp8, &Params::num_actual, 4, "num_actual"),
      Param("block_size_zero", kSparse, &Params::block_size, 0, "block_size"),
      Param("block_size_beyond_block", kSparse, &Params::block_size, 3, "state_cache"),
      Param("block_size_huge", kSparse, &Params::block_size, kHighest, "state_cache"),
      Param("state_width_without_overlap", kSparse, &Params::state_width, 512, "state_width"),
      Param("state_width_huge", kSparse, &Params::state_width, kHighest, "state_row_stride"),
      Param("row_stride_short", kSparse, &Params::state_row_stride, 2047, "state_row_stride"),
      Param("row_stride_huge", kSparse, &Params::state_row_stride, kHighest, "state_cache"),
      Param("row_stride_negative", kSparse, &Params::state_row_stride, -4096, "state_row_stride"),
      Param("quant_block_other", kSparse, &Params::quant_block, 128, "quant_block"),
      Param("token_stride_short", kSparse, &Params::token_stride, 574, "token_stride"),
      Param("token_stride_odd", kSparse, &Params::token_stride, 577, "token_stride"),
      Param("token_stride_huge", kSparse, &Params::token_stride, kHighest, "token_stride"),
      Param("token_stride_asserted", kMxfp4, &Params::token_stride, 68, "token_stride"),
      Param("scale_dim_short", kSparse, &Params::scale_dim, 7, "scale_dim"),
      Param("scale_dim_asserted", kMxfp4, &Params::scale_dim, 8, "scale_dim"),
      Param("scale_dim_misaligned", kFp8, &Params::scale_dim, 6, "scale_dim"),
      Param("scale_dim_negative", kFp8, &Params::scale_dim, kLowest, "scale_dim"),
      Param("page_of_no_tokens", kSparse, &Params::kv_cache_block_size, 0, "kv_cache_block_size"),
      Param("page_too_small", kSparse, &Params::kv_cache_block_size, 3, "kv_cache_before"),
      Param("page_tokens_huge", kSparse, &Params::kv_cache_block_size, kHighest, "kv_cache_before"),
      Param("base_negative", kSparse, &Params::kv_cache_base_offset, -2, "kv_cache_base_offset"),
      Param("base_beyond_padding", kSparse, &Params::kv_cache_base_offset, 18, "kv_cache_before"),
      Param("base_huge", kSparse, &Params::kv_cache_base_offset, kHighest, "kv_cache_before"),
      Param("base_misaligns_bf16", kSparse, &Params::kv_cache_base_offset, 1, "kv_cache_base_offset"),
      Param("base_misaligns_fp32", kFp8, &Params::kv_cache_base_offset, 2, "kv_cache_base_offset"),
      Param("rope_odd", kFp8, &Params::rope_head_dim, 63, "rope_head_dim"),
      Param("rope_zero", kQFp8, &Params::rope_head_dim, 0, "rope_head_dim"),
      Param("rope_beyond_head", kQFp8, &Params::rope_head_dim, 130, "rope_head_dim"),
      Param("rope_unlike_layout", kSparse, &Params::rope_head_dim, 32, "rope_head_dim"),
      Param("splits_zero", kGather, &Params::num_splits, 0, "num_splits"),
      Param("splits_uneven", kGather, &Params::num_splits, 3, "num_splits"),
      Param("parameter_of_another_operation", kSparse, &Params::num_splits, 2, "num_splits"),
      Number("eps_zero", kSparse, &Params::rms_norm_eps, 0, "rms_norm_eps"),
      Number("eps_zero_in_fp32", kSparse, &Params::rms_norm_eps, 1e-60, "rms_norm_eps"),
      Number("eps_negative", kSparse, &Params::rms_norm_eps, -1e-6, "rms_norm_eps"),
      Number("eps_nan", kFinalize, &Params::rms_norm_eps, std::nan(""), "rms_norm_eps"),
      Number("eps_infinite", kTwoStage, &Params::rms_norm_eps, kInfinity, "rms_norm_eps"),
      Number("eps_beyond_fp32", kSparse, &Params::rms_norm_eps, 1e39, "rms_norm_eps"),
      Number("softmax_scale_nan", kQFp8, &Params::softmax_scale, std::nan(""), "softmax_scale"),
      Number("head_scale_infinite", kQMxfp4, &Params::head_scale, -kInfinity, "head_scale"),
      {"overlap_in_two_stage", kTwoStage, "overlap", [](Case& c) { c.params.overlap = true; }},
      {"overlap_in_gather_split", kGather, "overlap", [](Case& c) { c.params.overlap = true; }},
      {"fnuz_in_mxfp4", kQMxfp4, "q_fnuz", [](Case& c) { c.params.q_fnuz = true; }},
      {"layout_unknown", kSparse, "layout", [](Case& c) { c.params.layout = "paged"; }},
      {"layout_of_another_operation", kSparse, "layout", [](Case& c) { c.params.layout = "indexer_fp8"; }},
      {"note_named_like_a_parameter", kSparse, "head_dim", [](Case& c) { c.notes["head_dim"] = "512"; }},
      {"note_named_schema", kSparse, "schema", [](Case& c) { c.notes["schema"] = "mine"; }},
  };
}

std::vector<Change> BadTensors() {
  return {
      Input("positions_of_32_bits", kSparse, "positions", DType::kI32, {6}),
      Input("block_table_of_64_bits", kSparse, "block_table", DType::kI64, {2, 3}),
      Input("state_in_bf16", kSparse, "state_cache", DType::kBf16, {5, 8200}),
      Input("angles_in_bf16", kSparse, "cos_sin_cache", DType::kBf16, {4, 64}),
      Input("q_in_f32", kQFp8, "index_q", DType::kF32, {3, 3, 128}),
      Input("block_table_flat", kSparse, "block_table", DType::kI32, {6}),
      Input("slots_of_other_length", kSparse, "slot_mapping", DType::kI64, {5}),
      Input("kv_slots_of_other_length", kSparse, "kv_slot_mapping", DType::kI64, {7}),
      Input("requests_of_other_length", kSparse, "token_to_req_indices", DType::kI32, {5}),
      Input("norm_weight_of_other_length", kSparse, "rms_norm_weight", DType::kF32, {511}),
      Input("angles_narrow", kSparse, "cos_sin_cache", DType::kF32, {4, 63}),
      Input("angles_of_too_few_rows", kSparse, "cos_sin_cache", DType::kF32, {2, 64}, "positions"),
      Input("scratch_narrow", kFinalize, "scratch", DType::kF32, {6, 511}),
      Input("scratch_of_too_few_rows", kFinalize, "scratch", DType::kF32, {5, 512}),
      Input("block_table_without_columns", kSparse, "block_table", DType::kI32, {2, 1}),
      Input("no_state_blocks", kSparse, "state_cache", DType::kF32, {0, 8200}, "block_table"),
      Input("weights_of_other_heads", kQFp8, "index_weights", DType::kF32, {3, 4}),
      Input("q_of_other_tokens", kQFp8, "index_q", DType::kBf16, {2, 3, 128}),
      Input("q_of_other_head_dim", kQFp8, "index_q", DType::kBf16, {3, 3, 64}),
      Input("unknown_input", kSparse, "state_caches", DType::kF32, {1}),
      Input("input_of_another_operation", kSparse, "scratch", DType::kF32, {6, 512}),
      Output("cache_of_floats", kSparse, "kv_cache", DType::kF32, {3, 1200}),
      Output("cache_page_too_short", kSparse, "kv_cache", DType::kU8, {3, 1167}),
      Output("cache_page_misaligned", kSparse, "kv_cache", DType::kU8, {3, 1169}),
      Output("cache_page_misaligned_for_fp32", kFp8, "kv_cache", DType::kU8, {3, 266}),
      Output("scratch_output_narrow", kGather, "scratch", DType::kF32, {6, 511}),
      Output("scratch_output_of_too_few_rows", kGather, "scratch", DType::kF32, {5, 512}),
      Output("q_fp8_short", kQFp8, "q_fp8", DType::kU8, {3, 3, 127}),
      Output("q_packed_whole", kQMxfp4, "q_packed", DType::kU8, {3, 3, 128}),
      Output("q_scale_short", kQMxfp4, "q_scale", DType::kU8, {3, 3, 1}),
      Output("fp8_weights_in_bf16", kQFp8, "weights_out", DType::kBf16, {3, 3}),
      Output("weights_out_of_other_heads", kQMxfp4, "weights_out", DType::kF32, {3, 2}),
      {"missing_input", kSparse, "state_cache", [](Case& c) { c.inputs.erase("state_cache"); }},
      {"missing_output", kSparse, "kv_cache_before", [](Case& c) { c.outputs_before.clear(); }},
      {"missing_recorded_output", kQMxfp4, "q_scale_after",
       [](Case& c) {
         c.outputs_after = c.outputs_before;
         c.outputs_after->erase("q_scale");
       }},
      {"recorded_output_of_other_shape", kSparse, "kv_cache_after",
       [](Case& c) {
         c.outputs_after = TensorMap{{"kv_cache", Tensor(DType::kU8, {3, 1186})}};
       }},
      {"recorded_output_of_other_type", kQMxfp4, "weights_out_after",
       [](Case& c) {
         c.outputs_after = c.outputs_before;
         c.outputs_after->at("weights_out") = Tensor(DType::kF32, {3, 3});
       }},
  };
}

std::vector<Change> BadEntries() {
  return {
      Entry<std::int64_t>("live_position_negative", kSparse, "positions", 0, -1),
      Entry<std::int64_t>("live_position_beyond_the_table", kFinalize, "positions", 2, 5),
      Entry<std::int64_t>("position_that_overflows", kSparse, "positions", 1, kHighest),
      Entry<std::int64_t>("q_position_negative", kQFp8, "positions", 0, -1),
      Entry<std::int64_t>("q_position_beyond_the_table", kQFp8, "positions", 1, 4),
      Entry<std::int32_t>("live_request_negative", kSparse, "token_to_req_indices", 0, -1),
      Entry<std::int32_t>("live_request_beyond_the_table", kSparse, "token_to_req_indices", 2, 2),
      Entry<std::int32_t>("live_block_negative", kSparse, "block_table", 0, -1),
      Entry<std::int32_t>("live_block_beyond_the_state", kSparse, "block_table", 1, 5),
      Entry<std::int32_t>("live_block_poison", kGather, "block_table", 4, 1 << 30),
      Entry<std::int64_t>("kv_slot_beyond_the_cache", kSparse, "kv_slot_mapping", 0, 6),
      Entry<std::int64_t>("kv_slot_huge", kFinalize, "kv_slot_mapping", 2, kHighest),
      Entry<std::int64_t>("kv_slot_twice", kSparse, "kv_slot_mapping", 0, 0),
      {"position_beyond_the_block_table", kGather, "block_table",
       [](Case& c) { Set<std::int64_t>(c.inputs.at("positions"), 2, 7); }},
      // The split path of two_stage gathers for token 3, whose KV slot is negative.
      Entry<std::int32_t>("gathered_block_of_a_skipped_kv_slot", kTwoStage, "block_table", 4, 1 << 30),
      {"skipped_token_brought_to_life", kSparse, "positions",
       [](Case& c) {
         Set<std::int64_t>(c.inputs.at("slot_mapping"), 4, 0);
         Set<std::int64_t>(c.inputs.at("positions"), 4, -1);
       }},
  };
}

class UnusableCase : public testing::TestWithParam<Change> {};

TEST_P(UnusableCase, IsRefusedInOneLineThatNamesTheField) {
  Case c = SmallCase(GetParam().op);
  ASSERT_NO_THROW(Check(c));
  GetParam().apply(c);
  try {
    Check(c);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    const std::string line = error.what();
    EXPECT_EQ(error.field(), GetParam().field) << line;
    EXPECT_EQ(error.source(), c.name);
    EXPECT_TRUE(line.starts_with(c.name + ": " + GetParam().field + ": ")) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Parameters, UnusableCase, testing::ValuesIn(BadParameters()), NameOfChange);
INSTANTIATE_TEST_SUITE_P(Tensors, UnusableCase, testing::ValuesIn(BadTensors()), NameOfChange);
INSTANTIATE_TEST_SUITE_P(Entries, UnusableCase, testing::ValuesIn(BadEntries()), NameOfChange);

std::vector<Change> Harmless() {
  return {
      Entry<std::int64_t>("position_of_a_negative_slot", kSparse, "positions", 4, kHighest),
      Entry<std::int64_t>("position_behind_num_actual", kSparse, "positions", 5, -1),
      Entry<std::int64_t>("far_position_within_a_window", kSparse, "positions", 1, std::int64_t{1} << 50),
      Entry<std::int64_t>("negative_position_within_a_window", kSparse, "positions", 1, -2),
      Entry<std::int64_t>("position_of_a_negative_kv_slot", kSparse, "positions", 3, (std::int64_t{1} << 40) + 1),
      Entry<std::int32_t>("request_of_a_negative_kv_slot", kSparse, "token_to_req_indices", 3, 1 << 30),
      Entry<std::int32_t>("block_of_a_negative_kv_slot", kSparse, "block_table", 4, 1 << 30),
      Entry<std::int32_t>("block_of_a_decode_token_that_is_skipped", kSparse, "block_table", 3, 1 << 30),
      Entry<std::int32_t>("table_column_that_no_window_reaches", kSparse, "block_table", 2, -77),
      Entry<std::int64_t>("kv_slot_of_a_negative_slot", kSparse, "kv_slot_mapping", 4, kHighest),
      Entry<std::int64_t>("kv_slot_within_a_window", kSparse, "kv_slot_mapping", 1, 3),
      Entry<std::int64_t>("kv_slot_behind_num_actual", kSparse, "kv_slot_mapping", 5, kLowest),
      Entry<std::int64_t>("slot_of_any_size", kSparse, "slot_mapping", 0, kHighest),
      Entry<std::int64_t>("far_position_without_a_table", kFinalize, "positions", 1, std::int64_t{1} << 62),
      Entry<std::int64_t>("q_position_behind_num_actual", kQFp8, "positions", 2, kHighest),
      Param("decode_tokens_negative", kTwoStage, &Params::num_decode_tokens, kLowest, ""),
      Param("decode_tokens_beyond_all", kTwoStage, &Params::num_decode_tokens, kHighest, ""),
      Param("base_within_padding", kSparse, &Params::kv_cache_base_offset, 16, ""),
      Param("no_tokens", kSparse, &Params::num_actual, 0, ""),
      Param("wider_rotation", kFp8, &Params::rope_head_dim, 66, ""),
      {"named_layout", kSparse, "", [](Case& c) { c.params.layout = "sparse_attn"; }},
      {"recorded_outputs", kQFp8, "", [](Case& c) { c.outputs_after = c.outputs_before; }},
      {"decode_token_skipped_with_garbage", kTwoStage, "",
       [](Case& c) {
         c.params.num_decode_tokens = 4;
         Set<std::int32_t>(c.inputs.at("token_to_req_indices"), 3, -1);
       }},
  };
}

class UnreadEntry : public testing::TestWithParam<Change> {};

TEST_P(UnreadEntry, IsNotLookedAt) {
  Case c = SmallCase(GetParam().op);
  GetParam().apply(c);
  EXPECT_NO_THROW(Check(c));
}

INSTANTIATE_TEST_SUITE_P(Entries, UnreadEntry, testing::ValuesIn(Harmless()), NameOfChange);

TEST(CaseWithoutTokens, IsUsable) {
  for (const Operation op : test::AllOperations()) {
    EXPECT_NO_THROW(Check(test::EmptyCase(op))) << spec::row(op).name;
  }
}

TEST(UsableCase, HasLiveEntriesThatCanBeRead) {
  for (const Operation op : test::AllOperations()) {
    const Case c = SmallCase(op);
    EXPECT_NE(test::ReadLiveEntries(c), test::ReadLiveEntries(test::EmptyCase(op))) << c.name;
  }
}

}  // namespace
}  // namespace kvexact
