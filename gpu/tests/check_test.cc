// SPDX-License-Identifier: Apache-2.0
// Bad arguments are refused before anything is launched: no device is needed to say so.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "gpu/operations/compress.h"
#include "gpu/operations/indexer_q.h"

namespace kvexact::gpu {
namespace {

// Any address that is aligned to everything; nothing is read through it.
template <class T>
T* At(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

CompressDescription Sparse() {
  CompressDescription d;
  d.op = spec::Operation::kSparseAttn;
  d.head_dim = 512;
  d.rope_head_dim = 64;
  d.ratio = 4;
  d.overlap = true;
  d.rms_norm_eps = 1e-6F;
  d.num_actual = 8;
  d.state_cache = At<float>(4096);
  d.block_size = 4;
  d.state_width = 1024;
  d.state_row_stride = 2048;
  d.state_block_stride = 8192;
  d.token_to_req = At<std::int32_t>(4096);
  d.positions = At<std::int64_t>(4096);
  d.slots = At<std::int64_t>(4096);
  d.kv_slots = At<std::int64_t>(4096);
  d.block_table = At<std::int32_t>(4096);
  d.block_table_stride = 16;
  d.norm_weight = At<float>(4096);
  d.cos_sin = At<float>(4096);
  d.cos_sin_stride = 64;
  d.cache = At<std::uint8_t>(4096);
  d.cache_placement = {spec::kSparseAttnLayout, 64, 37440, 0, 4};
  return d;
}

IndexerQDescription Mxfp4Q() {
  IndexerQDescription d;
  d.codes = QCodes::kE2m1;
  d.tokens = 3;
  d.heads = 64;
  d.head_dim = 128;
  d.rope_head_dim = 64;
  d.q = At<std::uint16_t>(4096);
  d.q_token_stride = 64 * 128;
  d.q_head_stride = 128;
  d.positions = At<std::int64_t>(4096);
  d.cos_sin = At<float>(4096);
  d.cos_sin_stride = 64;
  d.weights = At<float>(4096);
  d.weights_stride = 64;
  d.code_bytes = At<std::uint8_t>(4096);
  d.scales = At<std::uint8_t>(4096);
  d.weights_out = At<float>(4096);
  return d;
}

TEST(CheckCompress, AcceptsProductionShapes) {
  EXPECT_TRUE(Check(Sparse()).ok()) << Check(Sparse()).message;
  CompressDescription d = Sparse();
  d.ratio = 128;
  d.overlap = false;
  d.block_size = 8;
  d.state_width = 512;
  d.state_row_stride = 1024;
  EXPECT_TRUE(Check(d).ok()) << Check(d).message;
}

TEST(CheckCompress, AcceptsAnEmptyBatchWithoutPointers) {
  CompressDescription d;
  d.op = spec::Operation::kSparseAttn;
  d.head_dim = 512;
  EXPECT_TRUE(Check(d).ok());
  EXPECT_TRUE(Launch(d, nullptr).ok());  // nothing to launch, so no device is needed
}

struct BadCompress {
  const char* field;  // that the message starts with
  StatusCode code;
  std::function<void(CompressDescription&)> spoil;
};

class CheckCompressRefuses : public testing::TestWithParam<BadCompress> {};

TEST_P(CheckCompressRefuses, AndNamesTheField) {
  CompressDescription d = Sparse();
  GetParam().spoil(d);
  const Status status = Check(d);
  EXPECT_EQ(status.code, GetParam().code) << status.message;
  EXPECT_EQ(status.message.rfind(std::string(GetParam().field) + ":", 0), 0U) << status.message;
  EXPECT_EQ(Launch(d, nullptr).message, status.message);
}

using D = CompressDescription;
INSTANTIATE_TEST_SUITE_P(
    All, CheckCompressRefuses,
    testing::Values(
        BadCompress{"op", StatusCode::kUnsupported, [](D& d) { d.op = spec::Operation::kIndexerQFp8; }},
        BadCompress{"head_dim", StatusCode::kUnsupported, [](D& d) { d.head_dim = 256; }},
        BadCompress{"head_dim", StatusCode::kUnsupported, [](D& d) { d.op = spec::Operation::kIndexerFp8; }},
        BadCompress{"num_actual", StatusCode::kInvalid, [](D& d) { d.num_actual = -1; }},
        BadCompress{"num_actual", StatusCode::kInvalid, [](D& d) { d.num_actual = INT64_MAX; }},
        BadCompress{"ratio", StatusCode::kInvalid, [](D& d) { d.ratio = 0; }},
        BadCompress{"overlap", StatusCode::kUnsupported, [](D& d) { d.op = spec::Operation::kTwoStage; }},
        BadCompress{"positions", StatusCode::kInvalid, [](D& d) { d.positions = nullptr; }},
        BadCompress{"positions", StatusCode::kInvalid, [](D& d) { d.positions = At<std::int64_t>(4100); }},
        BadCompress{"slots", StatusCode::kInvalid, [](D& d) { d.slots = nullptr; }},
        BadCompress{"kv_slots", StatusCode::kInvalid, [](D& d) { d.kv_slots = nullptr; }},
        BadCompress{"token_to_req", StatusCode::kInvalid, [](D& d) { d.token_to_req = At<std::int32_t>(4098); }},
        BadCompress{"block_table", StatusCode::kInvalid, [](D& d) { d.block_table = nullptr; }},
        BadCompress{"block_table_stride", StatusCode::kInvalid, [](D& d) { d.block_table_stride = -4; }},
        BadCompress{"state_cache", StatusCode::kInvalid, [](D& d) { d.state_cache = At<float>(4098); }},
        BadCompress{"state_width", StatusCode::kInvalid, [](D& d) { d.state_width = 1023; }},
        BadCompress{"state_row_stride", StatusCode::kInvalid, [](D& d) { d.state_row_stride = 2047; }},
        BadCompress{"state_block_stride", StatusCode::kInvalid, [](D& d) { d.state_block_stride = -1; }},
        BadCompress{"block_size", StatusCode::kInvalid, [](D& d) { d.block_size = 0; }},
        BadCompress{"norm_weight", StatusCode::kInvalid, [](D& d) { d.norm_weight = At<float>(4098); }},
        BadCompress{"rms_norm_eps", StatusCode::kInvalid, [](D& d) { d.rms_norm_eps = 0; }},
        BadCompress{"rope_head_dim", StatusCode::kInvalid, [](D& d) { d.rope_head_dim = 65; }},
        BadCompress{"rope_head_dim", StatusCode::kInvalid, [](D& d) { d.rope_head_dim = 32; }},
        BadCompress{"cos_sin", StatusCode::kInvalid, [](D& d) { d.cos_sin = nullptr; }},
        BadCompress{"cos_sin_stride", StatusCode::kInvalid, [](D& d) { d.cos_sin_stride = 63; }},
        BadCompress{"cache", StatusCode::kInvalid, [](D& d) { d.cache = nullptr; }},
        BadCompress{"cache", StatusCode::kInvalid, [](D& d) { d.cache = At<std::uint8_t>(4097); }},
        BadCompress{"cache", StatusCode::kInvalid, [](D& d) { d.cache_placement.page_stride = 37441; }},
        BadCompress{"cache_placement.page_tokens", StatusCode::kInvalid,
                    [](D& d) { d.cache_placement.page_tokens = 0; }},
        BadCompress{"cache_placement.page_stride", StatusCode::kInvalid,
                    [](D& d) { d.cache_placement.page_stride = -8; }},
        BadCompress{"cache_placement.layout", StatusCode::kUnsupported,
                    [](D& d) { d.cache_placement.layout = spec::kIndexerFp8Layout; }},
        BadCompress{"cache_placement.layout", StatusCode::kInvalid,
                    [](D& d) { d.cache_placement.layout.scale_stride = -8; }},
        BadCompress{"scratch_out", StatusCode::kInvalid, [](D& d) { d.op = spec::Operation::kGatherSplit; }},
        BadCompress{"scratch", StatusCode::kInvalid, [](D& d) { d.op = spec::Operation::kFinalize; }},
        BadCompress{"num_splits", StatusCode::kInvalid, [](D& d) {
                      d.op = spec::Operation::kGatherSplit;
                      d.scratch_out = At<float>(4096);
                      d.scratch_stride = 512;
                      d.num_splits = 3;
                    }}));

TEST(CheckIndexerQ, AcceptsProductionShapesAndEmptyBatches) {
  EXPECT_TRUE(Check(Mxfp4Q()).ok()) << Check(Mxfp4Q()).message;
  IndexerQDescription empty;
  empty.head_dim = 128;
  EXPECT_TRUE(Launch(empty, nullptr).ok());
}

struct BadQ {
  const char* field;
  StatusCode code;
  std::function<void(IndexerQDescription&)> spoil;
};

class CheckIndexerQRefuses : public testing::TestWithParam<BadQ> {};

TEST_P(CheckIndexerQRefuses, AndNamesTheField) {
  IndexerQDescription d = Mxfp4Q();
  GetParam().spoil(d);
  const Status status = Check(d);
  EXPECT_EQ(status.code, GetParam().code) << status.message;
  EXPECT_EQ(status.message.rfind(std::string(GetParam().field) + ":", 0), 0U) << status.message;
  EXPECT_EQ(Launch(d, nullptr).message, status.message);
}

using Q = IndexerQDescription;
INSTANTIATE_TEST_SUITE_P(
    All, CheckIndexerQRefuses,
    testing::Values(BadQ{"head_dim", StatusCode::kUnsupported, [](Q& d) { d.head_dim = 64; }},
                    BadQ{"tokens", StatusCode::kInvalid, [](Q& d) { d.tokens = -1; }},
                    BadQ{"heads", StatusCode::kInvalid, [](Q& d) { d.heads = -1; }},
                    BadQ{"rope_head_dim", StatusCode::kInvalid, [](Q& d) { d.rope_head_dim = 130; }},
                    BadQ{"rope_head_dim", StatusCode::kInvalid, [](Q& d) { d.rope_head_dim = 33; }},
                    BadQ{"q", StatusCode::kInvalid, [](Q& d) { d.q = nullptr; }},
                    BadQ{"q", StatusCode::kInvalid, [](Q& d) { d.q = At<std::uint16_t>(4097); }},
                    BadQ{"positions", StatusCode::kInvalid, [](Q& d) { d.positions = nullptr; }},
                    BadQ{"cos_sin", StatusCode::kInvalid, [](Q& d) { d.cos_sin = At<float>(4098); }},
                    BadQ{"weights", StatusCode::kInvalid, [](Q& d) { d.weights = nullptr; }},
                    BadQ{"code_bytes", StatusCode::kInvalid, [](Q& d) { d.code_bytes = nullptr; }},
                    BadQ{"scales", StatusCode::kInvalid, [](Q& d) { d.scales = nullptr; }},
                    BadQ{"weights_out", StatusCode::kInvalid, [](Q& d) { d.weights_out = At<float>(4097); }},
                    BadQ{"weights_out_bf16", StatusCode::kUnsupported,
                         [](Q& d) {
                           d.codes = QCodes::kE4m3Fn;
                           d.weights_out_bf16 = true;
                         }},
                    BadQ{"q_token_stride", StatusCode::kInvalid, [](Q& d) { d.q_token_stride = -1; }},
                    BadQ{"cos_sin_stride", StatusCode::kInvalid, [](Q& d) { d.cos_sin_stride = 0; }}));

}  // namespace
}  // namespace kvexact::gpu
