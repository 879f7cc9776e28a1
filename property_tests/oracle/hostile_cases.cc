// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/hostile_cases.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "property_tests/oracle/random.h"

namespace kvexact::oracle {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// About unit normal: enough for data, and the same on every machine.
float Normal(Random& random) {
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += random.Signed();
  return static_cast<float>(sum * 0.70710678118654752);
}

// Magnitude log-uniform in [2^low, 2^high], sign at random.
float LogUniform(Random& random, double low, double high) {
  const double magnitude = std::exp2(low + (high - low) * random.Unit());
  const float x = static_cast<float>(std::min(magnitude, static_cast<double>(FLT_MAX)));
  return random.Coin() ? x : -x;
}

float Subnormal(Random& random) {
  const auto bits = static_cast<std::uint32_t>(random.Bits() >> (40 + random.Below(20)));
  return std::bit_cast<float>((bits & 0x00FFFFFFU) | (random.Coin() ? 0x80000000U : 0U));
}

std::uint16_t Bf16Bits(float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); }

template <class Enum>
Enum OneOf(Random& random, std::initializer_list<Enum> choices) {
  return choices.begin()[random.Below(static_cast<int>(choices.size()))];
}

// ------------------------------------------------------------------------------------ columns of a window

enum class ScoreKind {
  kNormal,
  kTies,
  kWide,
  kCutoff,
  kSomeMinusInf,
  kHuge,
  kLastUlps,
  kSubnormal,
  kDominated,
  kOffset
};

void FillScores(Random& random, ScoreKind kind, std::vector<float>& s) {
  const float base = static_cast<float>(random.Between(-1000, 1000));
  const auto first = static_cast<std::size_t>(random.Below(static_cast<int>(s.size())));
  for (std::size_t r = 0; r < s.size(); ++r) {
    switch (kind) {
      case ScoreKind::kNormal:
        s[r] = Normal(random) * 2;
        break;
      case ScoreKind::kTies:
        s[r] = base;
        break;
      case ScoreKind::kWide:
        s[r] = static_cast<float>(random.Signed() * 1000);
        break;
      case ScoreKind::kCutoff:
        s[r] = r == first ? 0.0F : -static_cast<float>(70 + 45 * random.Unit());
        break;
      case ScoreKind::kSomeMinusInf:
        s[r] = r != first && random.Coin() ? -kInf : Normal(random) * 8;
        break;
      case ScoreKind::kHuge:
        s[r] = LogUniform(random, 20, 128);
        break;
      case ScoreKind::kLastUlps:
        s[r] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(100.0F) + static_cast<std::uint32_t>(random.Below(5)));
        break;
      case ScoreKind::kSubnormal:
        s[r] = Subnormal(random);
        break;
      case ScoreKind::kDominated:
        s[r] = base - (r == first ? 0.0F : static_cast<float>(14 + 5 * random.Unit()));
        break;
      case ScoreKind::kOffset:
        s[r] = base * 16 + Normal(random);
        break;
    }
  }
}

enum class KvKind {
  kNormal,
  kSubnormal,
  kHuge,
  kNormLimit,
  kCancelling,
  kAnything,
  kSmallIntegers,
  kZero,
  kConstant,
  kRareGiant,
  kDrive
};

void FillKv(Random& random, KvKind kind, int head_dim, std::vector<float>& x) {
  const float constant = LogUniform(random, -10, 10);
  const float limit = 0x1p64F / std::sqrt(static_cast<float>(head_dim));
  for (std::size_t r = 0; r < x.size(); ++r) {
    switch (kind) {
      case KvKind::kNormal:
        x[r] = Normal(random);
        break;
      case KvKind::kSubnormal:
        x[r] = Subnormal(random);
        break;
      case KvKind::kHuge:
        x[r] = LogUniform(random, 118, 128);
        break;
      case KvKind::kNormLimit:
        x[r] = limit * static_cast<float>(0.98 + 0.04 * random.Unit());
        break;
      case KvKind::kCancelling:
        x[r] = (r % 2 == 0 ? constant : -constant) * (1 + Normal(random) * 0x1p-20F);
        break;
      case KvKind::kAnything:
        x[r] = LogUniform(random, -149, 128);
        break;
      case KvKind::kSmallIntegers:
        x[r] = static_cast<float>(random.Between(-8, 8));
        break;
      case KvKind::kZero:
        x[r] = random.Coin() ? 0.0F : -0.0F;
        break;
      case KvKind::kConstant:
        x[r] = constant;
        break;
      case KvKind::kRareGiant:
        x[r] = random.Below(3) == 0 ? LogUniform(random, 60, 120) : Normal(random);
        break;
      case KvKind::kDrive:
        x[r] = random.Coin() ? 0x1p20F : -0x1p20F;
        break;
    }
  }
}

// A token's columns share a mood, for one column beyond 2^64 turns all others into zeros.
enum class Mood { kOrdinary, kTiny, kNormLimit, kWild, kDrive, kNonFinite, kInfiniteKv };

struct Column {
  std::vector<float> score;
  std::vector<float> kv;
};

Column DrawColumn(Random& random, Mood mood, int rows, int head_dim) {
  Column c{std::vector<float>(static_cast<std::size_t>(rows)), std::vector<float>(static_cast<std::size_t>(rows))};
  ScoreKind scores = ScoreKind::kNormal;
  KvKind kv = KvKind::kNormal;
  const ScoreKind usual = OneOf(random, {ScoreKind::kNormal, ScoreKind::kNormal, ScoreKind::kTies, ScoreKind::kWide,
                                         ScoreKind::kSomeMinusInf, ScoreKind::kLastUlps, ScoreKind::kSubnormal,
                                         ScoreKind::kDominated, ScoreKind::kOffset, ScoreKind::kCutoff});
  switch (mood) {
    case Mood::kOrdinary:
    case Mood::kNonFinite:
      scores = usual;
      kv = OneOf(random, {KvKind::kNormal, KvKind::kNormal, KvKind::kSubnormal, KvKind::kCancelling,
                          KvKind::kCancelling, KvKind::kSmallIntegers, KvKind::kZero, KvKind::kConstant});
      break;
    case Mood::kTiny:
      scores = usual;
      kv = OneOf(random, {KvKind::kSubnormal, KvKind::kSubnormal, KvKind::kZero});
      break;
    case Mood::kNormLimit:
      scores = usual;
      kv = KvKind::kNormLimit;
      break;
    case Mood::kWild:
      scores = OneOf(random, {ScoreKind::kNormal, ScoreKind::kCutoff, ScoreKind::kWide, ScoreKind::kHuge});
      kv = OneOf(random, {KvKind::kNormal, KvKind::kAnything, KvKind::kHuge, KvKind::kRareGiant});
      break;
    case Mood::kInfiniteKv:
      scores = random.Below(16) == 0 ? ScoreKind::kCutoff : ScoreKind::kNormal;
      break;
    case Mood::kDrive:
      scores = ScoreKind::kDominated;
      kv = KvKind::kDrive;
      break;
  }
  FillScores(random, scores, c.score);
  FillKv(random, kv, head_dim, c.kv);
  // Giants under weights near the end of the exponential's range: the sum is decided there.
  if (mood == Mood::kWild && scores == ScoreKind::kCutoff) {
    const auto most = static_cast<std::size_t>(std::max_element(c.score.begin(), c.score.end()) - c.score.begin());
    c.kv[most] = random.Coin() ? Normal(random) : Subnormal(random);
  }
  if (mood == Mood::kNonFinite && random.Below(40) == 0) {
    const auto r = static_cast<std::size_t>(random.Below(rows));
    switch (random.Below(5)) {
      case 0:
        c.score[r] = kNan;
        break;
      case 1:
        c.score[r] = kInf;
        break;
      case 2:
        std::fill(c.score.begin(), c.score.end(), -kInf);
        break;
      case 3:
        c.kv[r] = kNan;
        break;
      default:
        c.kv[r] = random.Coin() ? kInf : -kInf;
        break;
    }
  }
  if (mood == Mood::kInfiniteKv && random.Below(64) == 0) {
    c.kv[static_cast<std::size_t>(random.Below(rows))] = random.Coin() ? kInf : -kInf;
  }
  if (mood == Mood::kTiny || mood == Mood::kOrdinary) {
    // A common power of two moves a whole column towards or away from eps and the subnormals.
    const int shift = mood == Mood::kTiny ? random.Below(24) : random.Between(-3, 3);
    for (float& x : c.kv) x = std::ldexp(x, shift);
  }
  return c;
}

// --------------------------------------------------------------------------------------------- other inputs

Tensor DrawNormWeight(Random& random, int head_dim) {
  std::vector<float> w(static_cast<std::size_t>(head_dim));
  const int kind = random.Below(7);
  for (float& x : w) {
    switch (kind) {
      case 0:
        x = 1;
        break;
      case 1:
      case 2:
        x = 1 + 0.2F * Normal(random);
        break;
      case 3:
        x = LogUniform(random, -60, 60);
        break;
      case 4:
        x = static_cast<float>(random.Between(-14, 14)) * 0.25F;
        break;  // on and between FP8 codes
      case 5:
        x = random.Below(8) == 0 ? Subnormal(random) : Normal(random);
        break;
      default:
        x = random.Below(16) == 0 ? LogUniform(random, 90, 128) : LogUniform(random, -126, -60);
        break;
    }
  }
  if (random.Coin()) {
    Tensor t(DType::kBf16, {head_dim});
    for (int d = 0; d < head_dim; ++d) t.as<std::uint16_t>()[d] = Bf16Bits(w[static_cast<std::size_t>(d)]);
    return t;
  }
  Tensor t(DType::kF32, {head_dim});
  std::copy(w.begin(), w.end(), t.as<float>());
  return t;
}

void DrawAngles(Random& random, float* row, std::int64_t rope_dim) {
  const int kind = random.Below(6);
  for (std::int64_t i = 0; i < rope_dim / 2; ++i) {
    const double angle = random.Unit() * 6.283185307179586;
    float cos = static_cast<float>(std::cos(angle));
    float sin = static_cast<float>(std::sin(angle));
    if (kind == 1) std::tie(cos, sin) = OneOf<std::pair<float, float>>(random, {{1, 0}, {0, 1}, {-1, 0}, {0, -1}});
    if (kind == 2) cos = sin = 0.70710678F;
    if (kind == 3) std::tie(cos, sin) = std::pair(LogUniform(random, -24, 1), LogUniform(random, -140, 1));
    row[i] = cos;
    row[rope_dim / 2 + i] = sin;
  }
}

Tensor DrawCosSin(Random& random, std::int64_t positions, std::int64_t rope_dim) {
  const std::int64_t stride = rope_dim + (random.Below(4) == 0 ? 8 : 0);
  Tensor t(DType::kF32, {positions, stride});
  std::fill_n(t.as<float>(), t.elements(), kNan);
  for (std::int64_t p = 0; p < positions; ++p) DrawAngles(random, t.as<float>() + p * stride, rope_dim);
  return t;
}

void FillGarbage(Random& random, Tensor& t) {
  for (std::uint8_t& b : t.byte_span()) b = static_cast<std::uint8_t>(random.Bits() >> 56);
}

struct CompressShape {
  spec::Operation op;
  int ratio;
  bool overlap;
  int live;     // tokens that end a window
  int skipped;  // tokens that do not
};

// A case of the shape whose window columns come from draw(random, token, rows) -> Column.
template <class DrawColumns>
Case BuildCompressCase(Random& random, const CompressShape& shape, DrawColumns&& draw) {
  Case c;
  c.op = shape.op;
  const spec::OperationRow& row = spec::row(shape.op);
  Params& p = c.params;
  p.head_dim = row.head_dim;
  p.compress_ratio = shape.ratio;
  const std::int64_t tokens = shape.live + shape.skipped;
  const std::int64_t windows = shape.live + 1;
  const std::int64_t length = windows * shape.ratio;  // positions a request
  p.num_actual = tokens;

  // Live tokens end windows of the one request, the first window among them; garbage between them.
  std::vector<std::int64_t> window(static_cast<std::size_t>(windows));
  std::iota(window.begin(), window.end(), 0);
  for (std::size_t i = window.size(); i > 1; --i) {
    std::swap(window[i - 1], window[static_cast<std::size_t>(random.Below(static_cast<int>(i)))]);
  }
  Tensor positions(DType::kI64, {tokens});
  Tensor slots(DType::kI64, {tokens});
  Tensor kv_slots(DType::kI64, {tokens});
  Tensor requests(DType::kI32, {tokens});
  std::vector<std::int64_t> live;
  for (std::int64_t t = 0; t < tokens; ++t) {
    const bool is_live = t % 2 == 0 ? static_cast<int>(live.size()) < shape.live
                                    : t - static_cast<std::int64_t>(live.size()) >= shape.skipped;
    if (is_live) {
      positions.as<std::int64_t>()[t] = (window[live.size()] + 1) * shape.ratio - 1;
      slots.as<std::int64_t>()[t] = random.Below(1000);
      kv_slots.as<std::int64_t>()[t] = static_cast<std::int64_t>(live.size()) * 3 + 1;
      requests.as<std::int32_t>()[t] = 1;
      live.push_back(t);
    } else {
      slots.as<std::int64_t>()[t] = -1;
      positions.as<std::int64_t>()[t] = std::numeric_limits<std::int64_t>::max();
      kv_slots.as<std::int64_t>()[t] = 1 << 30;
      requests.as<std::int32_t>()[t] = 1 << 30;
    }
  }

  if (row.reads_state) {
    p.overlap = shape.overlap;
    p.block_size = OneOf(random, {4, 8, 3, 1});
    p.state_width = p.head_dim * (shape.overlap ? 2 : 1) + (random.Coin() ? 0 : 16);
    p.state_row_stride = 2 * p.state_width + (random.Coin() ? 0 : 4);
    const std::int64_t blocks = (length + p.block_size - 1) / p.block_size;
    std::vector<std::int32_t> physical(static_cast<std::size_t>(blocks));
    std::iota(physical.begin(), physical.end(), 0);
    for (std::size_t i = physical.size(); i > 1; --i) {
      std::swap(physical[i - 1], physical[static_cast<std::size_t>(random.Below(static_cast<int>(i)))]);
    }
    Tensor table(DType::kI32, {2, blocks});
    std::fill_n(table.as<std::int32_t>(), 2 * blocks, 1 << 30);
    std::copy(physical.begin(), physical.end(), table.as<std::int32_t>() + blocks);
    Tensor state(DType::kF32, {blocks, p.block_size * p.state_row_stride});
    std::fill_n(state.as<float>(), state.elements(), kNan);
    const int rows = shape.ratio * (shape.overlap ? 2 : 1);
    for (const std::int64_t t : live) {
      const std::int64_t last = positions.as<std::int64_t>()[t];
      const int masked = static_cast<int>(std::max<std::int64_t>(0, rows - 1 - last));
      for (std::int64_t d = 0; d < p.head_dim; ++d) {
        const Column column = draw(random, t, rows - masked);
        for (int r = masked; r < rows; ++r) {
          const std::int64_t at = last - rows + 1 + r;
          const std::int64_t base = physical[static_cast<std::size_t>(at / p.block_size)] * state.dim(1) +
                                    at % p.block_size * p.state_row_stride + (r >= shape.ratio ? p.head_dim : 0);
          state.as<float>()[base + d] = column.kv[static_cast<std::size_t>(r - masked)];
          state.as<float>()[base + p.state_width + d] = column.score[static_cast<std::size_t>(r - masked)];
        }
      }
    }
    c.inputs.emplace("state_cache", std::move(state));
    c.inputs.emplace("block_table", std::move(table));
    c.inputs.emplace("token_to_req_indices", std::move(requests));
  } else {
    Tensor scratch(DType::kF32, {tokens, p.head_dim});
    std::fill_n(scratch.as<float>(), scratch.elements(), kNan);
    for (const std::int64_t t : live) {
      for (std::int64_t d = 0; d < p.head_dim; ++d) {
        scratch.as<float>()[t * p.head_dim + d] = draw(random, t, 1).kv[0];
      }
    }
    c.inputs.emplace("scratch", std::move(scratch));
  }

  if (row.layout != nullptr) {
    const spec::Layout& layout = *row.layout;
    p.quant_block = layout.quant_block;
    p.token_stride = layout.token_stride;
    p.scale_dim = layout.scale_stride;
    p.kv_cache_block_size = 4;
    p.rms_norm_eps = OneOf(random, {1e-6, 1e-6, 1e-6, 1e-5, 1e-12, 1e-30, 1.0});
    const std::int64_t pages = 3 * shape.live / 4 + 1;
    const std::int64_t used = p.kv_cache_block_size * (p.token_stride + p.scale_dim);
    Tensor cache(DType::kU8, {pages, (used + 575) / 576 * 576});
    FillGarbage(random, cache);
    c.outputs_before.emplace("kv_cache", std::move(cache));
    c.inputs.emplace("rms_norm_weight", DrawNormWeight(random, row.head_dim));
    c.inputs.emplace("cos_sin_cache", DrawCosSin(random, length, p.rope_head_dim));
    c.inputs.emplace("kv_slot_mapping", std::move(kv_slots));
  } else {
    p.num_splits = 1 << random.Below(5);
    Tensor scratch(DType::kF32, {tokens, p.head_dim});
    FillGarbage(random, scratch);
    c.outputs_before.emplace("scratch", std::move(scratch));
  }
  if (shape.op == spec::Operation::kTwoStage) p.num_decode_tokens = random.Below(static_cast<int>(tokens) + 1);
  c.inputs.emplace("positions", std::move(positions));
  c.inputs.emplace("slot_mapping", std::move(slots));
  return c;
}

}  // namespace

Case HostileCompressCase(std::uint64_t seed) {
  using enum spec::Operation;
  Random random(seed);
  CompressShape shape{};
  shape.op = OneOf(random, {kSparseAttn, kSparseAttn, kIndexerFp8, kIndexerFp8, kIndexerMxfp4, kIndexerMxfp4,
                            kGatherSplit, kFinalize, kTwoStage});
  shape.ratio = OneOf(random, {1, 2, 3, 4, 4, 4, 4, 5, 8, 8, 16, 31});
  if (random.Below(12) == 0) shape.ratio = OneOf(random, {64, 128, 256});
  const bool split = shape.op == kGatherSplit || shape.op == kTwoStage || shape.op == kFinalize;
  shape.overlap = !split && random.Coin();
  shape.live = shape.ratio > 31 ? 1 : 4;
  shape.skipped = random.Below(3);
  std::vector<Mood> moods;
  for (int t = 0; t < shape.live + shape.skipped; ++t) {
    moods.push_back(OneOf(random, {Mood::kOrdinary, Mood::kOrdinary, Mood::kOrdinary, Mood::kTiny, Mood::kNormLimit,
                                   Mood::kWild, Mood::kDrive}));
    if (random.Below(16) == 0) moods.back() = random.Coin() ? Mood::kNonFinite : Mood::kInfiniteKv;
  }
  const int head_dim = spec::row(shape.op).head_dim;
  Case c = BuildCompressCase(random, shape, [&](Random& r, std::int64_t token, int rows) {
    return DrawColumn(r, moods[static_cast<std::size_t>(token)], rows, head_dim);
  });
  c.name = "hostile:" + std::to_string(seed);
  return c;
}

Case PlainCase(std::uint64_t seed, spec::Operation op, int ratio, bool overlap, int tokens) {
  Random random(seed);
  Case c = BuildCompressCase(random, {op, ratio, overlap, tokens, 0}, [](Random& r, std::int64_t, int rows) {
    Column column;
    for (int i = 0; i < rows; ++i) {
      column.score.push_back(Normal(r));
      column.kv.push_back(Normal(r));
    }
    return column;
  });
  c.name = "plain:" + std::to_string(seed);
  if (spec::row(op).layout != nullptr) {
    c.params.rms_norm_eps = 1e-6;
    Tensor weight(DType::kF32, {c.params.head_dim});
    for (std::int64_t d = 0; d < c.params.head_dim; ++d) weight.as<float>()[d] = 1 + 0.1F * Normal(random);
    c.inputs.insert_or_assign("rms_norm_weight", std::move(weight));
  }
  return c;
}

Case HostileQCase(std::uint64_t seed) {
  Random random(seed);
  Case c;
  c.name = "hostile-q:" + std::to_string(seed);
  c.op = random.Coin() ? spec::Operation::kIndexerQFp8 : spec::Operation::kIndexerQMxfp4;
  const bool mxfp4 = c.op == spec::Operation::kIndexerQMxfp4;
  Params& p = c.params;
  constexpr std::int64_t kTokens = 3;
  const std::int64_t heads = random.Between(1, 4);
  p.head_dim = 128;
  p.rope_head_dim = OneOf(random, {64, 64, 32, 128});
  p.num_actual = kTokens;
  p.softmax_scale = random.Coin() ? 0.08838834764831845 : std::fabs(static_cast<double>(LogUniform(random, -40, 40)));
  p.head_scale = random.Coin() ? 0.125 : std::fabs(static_cast<double>(LogUniform(random, -40, 40)));
  if (!mxfp4) p.q_fnuz = random.Coin();

  Tensor positions(DType::kI64, {kTokens});
  for (std::int64_t t = 0; t < kTokens; ++t) positions.as<std::int64_t>()[t] = random.Below(8);
  Tensor q(DType::kBf16, {kTokens, heads, p.head_dim});
  for (std::int64_t h = 0; h < kTokens * heads; ++h) {
    const int kind = random.Below(8);
    for (std::int64_t d = 0; d < p.head_dim; ++d) {
      float x = Normal(random);
      switch (kind) {
        case 2:
          x = LogUniform(random, -30, 10);
          break;
        case 3:
          x = Subnormal(random);
          break;
        case 4:
          x = LogUniform(random, 100, 128);
          break;
        case 5:
          x = static_cast<float>(random.Between(-448, 448));
          break;
        case 6:
          x = LogUniform(random, -149, 128);
          break;
        case 7:
          if (random.Below(64) == 0) x = OneOf(random, {kNan, kInf, -kInf});
          break;
        default:
          break;
      }
      q.as<std::uint16_t>()[h * p.head_dim + d] = Bf16Bits(x);
    }
  }
  const bool bf16_weights = random.Coin();
  Tensor weights(bf16_weights ? DType::kBf16 : DType::kF32, {kTokens, heads});
  for (std::int64_t i = 0; i < kTokens * heads; ++i) {
    float w = random.Below(4) == 0 ? LogUniform(random, -60, 60) : Normal(random);
    if (random.Below(16) == 0) w = 0;
    if (bf16_weights) {
      weights.as<std::uint16_t>()[i] = Bf16Bits(w);
    } else {
      weights.as<float>()[i] = w;
    }
  }
  Tensor weights_out(mxfp4 && random.Coin() ? DType::kBf16 : DType::kF32, {kTokens, heads});
  FillGarbage(random, weights_out);
  c.outputs_before.emplace("weights_out", std::move(weights_out));
  if (mxfp4) {
    Tensor packed(DType::kU8, {kTokens, heads, p.head_dim / 2});
    Tensor scale(DType::kU8, {kTokens, heads, p.head_dim / 32});
    FillGarbage(random, packed);
    FillGarbage(random, scale);
    c.outputs_before.emplace("q_packed", std::move(packed));
    c.outputs_before.emplace("q_scale", std::move(scale));
  } else {
    Tensor codes(DType::kU8, {kTokens, heads, p.head_dim});
    FillGarbage(random, codes);
    c.outputs_before.emplace("q_fp8", std::move(codes));
  }
  c.inputs.emplace("cos_sin_cache", DrawCosSin(random, 8, p.rope_head_dim));
  c.inputs.emplace("positions", std::move(positions));
  c.inputs.emplace("index_q", std::move(q));
  c.inputs.emplace("index_weights", std::move(weights));
  return c;
}

}  // namespace kvexact::oracle
