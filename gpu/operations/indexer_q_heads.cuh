// SPDX-License-Identifier: Apache-2.0
// What a warp does with a group of heads once they are loaded: rotate, quantise, store, fold the weights
// (indexer_q.cuh).
#pragma once

#include <cstdint>

#include "gpu/primitives/convert.cuh"
#include "gpu/primitives/memory.cuh"
#include "gpu/primitives/reduce.cuh"
#include "gpu/primitives/scale.cuh"
#include "gpu/stages/fold_weights.cuh"
#include "gpu/stages/indexer_q_arguments.cuh"
#include "gpu/stages/rope.cuh"
#include "gpu/stages/shapes.cuh"

namespace kvexact::gpu {

// kWords (1 or 4) words of packed bf16 values.
template <int kWords>
struct Bf16Words {
  std::uint32_t word[kWords];

  __device__ void Load(const std::uint16_t* p) {
    if constexpr (kWords == 1) {
      word[0] = LoadStreamNow(reinterpret_cast<const std::uint32_t*>(p));
    } else {
      Take(LoadStreamNow(reinterpret_cast<const uint4*>(p)));
    }
  }
  __device__ void Take(const uint4& v) {
    static_assert(kWords == 4);
    word[0] = v.x, word[1] = v.y, word[2] = v.z, word[3] = v.w;
  }
  // Largest magnitude of each half over the words, with any sign; NaN if any is.
  __device__ std::uint32_t MaxMagnitudeOrNan() const {
    std::uint32_t m = MaxMagnitudeOrNanBf16(word[0], word[kWords - 1]);
#pragma unroll
    for (int i = 1; i < kWords - 1; ++i) m = MaxMagnitudeOrNanBf16(m, word[i]);
    return m;
  }
  // The same, NaN ignored.
  __device__ std::uint32_t MaxMagnitude() const {
    std::uint32_t m = MaxMagnitudeBf16(word[0], word[kWords - 1]);
#pragma unroll
    for (int i = 1; i < kWords - 1; ++i) m = MaxMagnitudeBf16(m, word[i]);
    return m;
  }
};

// Codes of a lane's elements that do not rotate (nope) and that do, and the scale bytes of their blocks.
template <int kWords>
struct Mxfp4Codes {
  std::uint32_t nope;  // 2 * kWords nibbles each
  std::uint32_t rope;
  std::uint32_t nope_byte;
  std::uint32_t rope_byte;
};

// Words 2 * i and 2 * i + 1, the second of them 0 where there is only one.
template <int kWords>
__device__ inline uint2 Pair(const Bf16Words<kWords>& x, int i) {
  if constexpr (kWords == 1) return make_uint2(x.word[0], 0);
  return make_uint2(x.word[2 * i], x.word[2 * i + 1]);
}
template <int kWords>
inline constexpr int kPairs = (kWords + 1) / 2;

// From words of four nope codes (low half) and four rope codes (high half).
template <int kWords>
__device__ inline void Regroup(std::uint32_t first, std::uint32_t second, Mxfp4Codes<kWords>& out) {
  if constexpr (kWords == 1) {
    out.nope = first;
    out.rope = first >> 16;
  } else {
    out.nope = __byte_perm(first, second, 0x5410);
    out.rope = __byte_perm(first, second, 0x7632);
  }
}

// Any values. Blocks of 32 are 16 / kWords lanes.
template <int kWords>
__device__ __noinline__ Mxfp4Codes<kWords> QuantiseMxfp4Any(Bf16Words<kWords> nope, Bf16Words<kWords> rope) {
  const std::uint32_t amax = MaxOverLanes(MaxMagnitudeOfHalves(nope.MaxMagnitude(), rope.MaxMagnitude()), 16 / kWords);
  Mxfp4Codes<kWords> out;
  out.nope_byte = Mxfp4ScaleByte(fmaxf(Bf16Low(amax), spec::kMxfp4AmaxFloor));
  out.rope_byte = Mxfp4ScaleByte(fmaxf(Bf16High(amax), spec::kMxfp4AmaxFloor));
  std::uint32_t codes[kPairs<kWords>];
#pragma unroll
  for (int i = 0; i < kPairs<kWords>; ++i) {
    const uint2 n = Pair(nope, i);
    const uint2 r = Pair(rope, i);
    const float low[4] = {Bf16Low(n.x), Bf16High(n.x), Bf16Low(n.y), Bf16High(n.y)};
    const float high[4] = {Bf16Low(r.x), Bf16High(r.x), Bf16Low(r.y), Bf16High(r.y)};
    codes[i] = PackE2m1(low, Mxfp4InverseScale(out.nope_byte), high, Mxfp4InverseScale(out.rope_byte));
  }
  Regroup(codes[0], codes[kPairs<kWords> - 1], out);
  return out;
}

// Both blocks' absmax side by side, the floor included; NaN where an element is NaN.
template <int kWords>
__device__ inline std::uint32_t Mxfp4AbsMaxPair(const Bf16Words<kWords>& nope, const Bf16Words<kWords>& rope) {
  const std::uint32_t lane_max = MaxMagnitudeOrNanOfHalves(nope.MaxMagnitudeOrNan(), rope.MaxMagnitudeOrNan());
  return MaxOrNanBf16(MaxOrNanOverLanes(lane_max, 16 / kWords), 0x01C001C0U);  // the floor, 6 * 2^-126, is a bf16
}

// Whether one of the two is NaN, infinite or at least 2^110. Below that, bytes are below 240 and 2^(127 - byte - 14) is
// a normal bf16.
__device__ inline bool IsSpecial(std::uint32_t amax_pair) {
  constexpr std::uint32_t kHuge = 0x7680;  // 2^110
  return ((amax_pair + (0x8000 - kHuge) * 0x00010001U) & 0x80008000U) != 0;
}

// The same as QuantiseMxfp4Any for blocks that are not special.
template <int kWords>
__device__ inline Mxfp4Codes<kWords> QuantiseMxfp4Finite(const Bf16Words<kWords>& nope, const Bf16Words<kWords>& rope,
                                                         std::uint32_t amax_pair, std::uint32_t negative_zero_high) {
  const std::uint32_t rounded = (amax_pair + 0x003F003FU) & 0xFF80FF80U;  // (byte + 2) << 7 in each half
  const std::uint32_t units = 0x79007900U - rounded;                      // (127 + 127 - byte - 14) << 7
  Mxfp4Codes<kWords> out;
  out.nope_byte = (rounded >> 7 & 0x1FFU) - 2U;
  out.rope_byte = (rounded >> 23) - 2U;
  std::uint32_t codes[kPairs<kWords>];
#pragma unroll
  for (int i = 0; i < kPairs<kWords>; ++i) {
    codes[i] = PackFiniteE2m1(Pair(nope, i), Pair(rope, i), units << 16, units & 0xFFFF0000U, negative_zero_high);
  }
  Regroup(codes[0], codes[kPairs<kWords> - 1], out);
  return out;
}

// How the heads of a token are dealt out: a lane holds 2 * kWords columns that do not rotate and, 64 further, as many
// that do, so that all lanes do the same work; a turn of a warp is kHeads heads; a warp takes kTurns turns.
template <int kWordsOfALane, int kTurnsOfAWarp, int kThreadsOfABlock, int kBlocksOfAMultiprocessor>
struct QShape {
  static_assert(kWordsOfALane == 1 || kWordsOfALane == 4, "4- or 16-byte loads");
  static constexpr int kWords = kWordsOfALane;
  static constexpr int kTurns = kTurnsOfAWarp;
  static constexpr int kThreads = kThreadsOfABlock;
  static constexpr int kResident = kBlocksOfAMultiprocessor;
  static constexpr int kLanes = 32 / kWords;  // of a head
  static constexpr int kHeads = 32 / kLanes;
  static constexpr int kHeadsOfAWarp = kTurns * kHeads;
  static_assert(2 * kTurns <= 16 / kWords, "the lanes of two blocks store all their scales");
};
using QMany = QShape<4, 2, 256, 4>;  // the least work a head
using QFew = QShape<1, 1, 32, 1>;    // the most warps, one a block

// The heads of one warp: kTurns turns from `first_head` of `token`.
struct QHeads {
  std::int64_t token;
  std::int64_t first_head;
};

template <class Shape>
__device__ inline QHeads HeadsOf(const IndexerQArguments& arguments, std::int64_t worker) {
  const std::int64_t token = arguments.groups_shift >= 0 ? worker >> arguments.groups_shift : worker / arguments.groups;
  return {token, (worker - token * arguments.groups) * Shape::kHeadsOfAWarp};
}

// Where a lane stands: its part of a head, and the head within a turn.
template <class Shape>
struct QLane {
  int part = static_cast<int>(threadIdx.x) % Shape::kLanes;
  int head = static_cast<int>(threadIdx.x) % 32 / Shape::kLanes;

  __device__ const std::uint16_t* Row(const IndexerQArguments& arguments, const QHeads& heads) const {
    return arguments.q + heads.token * arguments.q_token_stride + (heads.first_head + head) * arguments.q_head_stride +
           part * (2 * Shape::kWords);
  }
  __device__ const float* Table(const IndexerQArguments& arguments, std::int64_t position) const {
    return static_cast<const float*>(arguments.cos_sin) + part * Shape::kWords + position * arguments.cos_sin_stride;
  }
  // Lane (part = t, head) folds the weight of head t * kHeads + head; the others load one for nothing, without a
  // branch.
  __device__ bool folds() const { return part < Shape::kTurns; }
  __device__ std::int64_t FoldedHead(const QHeads& heads) const {
    return heads.first_head + (folds() ? part : 0) * Shape::kHeads + head;
  }
};

// What a lane has loaded.
template <class Shape>
struct QLoaded {
  Bf16Words<Shape::kWords> nope[Shape::kTurns];
  Bf16Words<Shape::kWords> rope[Shape::kTurns];
  float cosine[Shape::kWords];
  float sine[Shape::kWords];
  RawFloat weight;
};

// Everything behind the loads.
template <QFormat kFormat, class Shape>
__device__ inline void QuantiseHeads(const IndexerQArguments& arguments, const QHeads& heads, QLoaded<Shape>& x) {
  constexpr bool kMxfp4 = kFormat == QFormat::kE2m1;
  constexpr int kHead = kIndexerHead;
  constexpr int kNope = kHead - kRopeDim;
  constexpr int kWords = Shape::kWords;
  constexpr int kTurns = Shape::kTurns;
  const QLane<Shape> lane;
  const int part = lane.part;
  auto& nope = x.nope;
  auto& rope = x.rope;
  const std::int64_t row = heads.token * arguments.heads + heads.first_head + lane.head;  // of the first turn
  std::uint32_t kept = 0;  // scale byte that this lane stores or folds
#pragma unroll
  for (int t = 0; t < kTurns; ++t) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      float even = Bf16Low(rope[t].word[i]);
      float odd = Bf16High(rope[t].word[i]);
      RotatePair(x.cosine[i], x.sine[i], even, odd);
      rope[t].word[i] = PackBf16(even, odd);
    }
  }

  float weight = ValueOf(x.weight, arguments.weights_bf16);
  if constexpr (kMxfp4) {
    // Lane i of a block's lanes stores turn i / 2's byte of the block that does not rotate (even i) or does (odd i).
    const int index = part % (16 / kWords);
    const auto store = [&](int t, const Mxfp4Codes<kWords>& q) {
      if (index / 2 == t) kept = index % 2 != 0 ? q.rope_byte : q.nope_byte;
      std::uint8_t* out = arguments.codes + (row + t * Shape::kHeads) * (kHead / 2) + part * kWords;
      if constexpr (kWords == 1) {
        out[0] = static_cast<std::uint8_t>(q.nope);
        out[kNope / 2] = static_cast<std::uint8_t>(q.rope);
      } else {
        *reinterpret_cast<std::uint32_t*>(out) = q.nope;
        *reinterpret_cast<std::uint32_t*>(out + kNope / 2) = q.rope;
      }
    };
    std::uint32_t amax[kTurns];
    bool special = KVEXACT_HAS_E2M1 != 0;
#pragma unroll
    for (int t = 0; t < kTurns; ++t) {
      amax[t] = Mxfp4AbsMaxPair(nope[t], rope[t]);
      special = special || IsSpecial(amax[t]);
    }
    if (__any_sync(0xFFFFFFFFU, special)) {
#pragma unroll
      for (int t = 0; t < kTurns; ++t) store(t, QuantiseMxfp4Any(nope[t], rope[t]));
    } else {
#pragma unroll
      for (int t = 0; t < kTurns; ++t) {
        store(t, QuantiseMxfp4Finite(nope[t], rope[t], amax[t], arguments.negative_zero_high));
      }
    }
    if (index / 2 < kTurns) {
      const int block = index % 2 * 2 + part / (16 / kWords);
      arguments.scales[(row + index / 2 * Shape::kHeads) * 4 + block] = static_cast<std::uint8_t>(kept);
    }
  } else {
    // Two turns share an exchange: one in the low half, one in the high half.
    constexpr int kExponent = kFormat == QFormat::kE4m3Fn ? 8 : 7;
    constexpr int kStep = kTurns > 1 ? 2 : 1;
#pragma unroll
    for (int t = 0; t < kTurns; t += kStep) {
      const int u = t + kStep - 1;
      const std::uint32_t amax =
          MaxOverLanes(MaxMagnitudeOfHalves(MaxMagnitudeBf16(nope[t].MaxMagnitude(), rope[t].MaxMagnitude()),
                                            MaxMagnitudeBf16(nope[u].MaxMagnitude(), rope[u].MaxMagnitude())),
                       Shape::kLanes);
#pragma unroll
      for (int w = t; w < t + kStep; ++w) {
        const float block_max = fmaxf(w == t ? Bf16Low(amax) : Bf16High(amax), spec::kFp8AmaxFloor);
        const std::uint32_t byte = Fp8ScaleByte<kExponent>(block_max);
        if (part == w) kept = byte;
        // Powers of two: exact, or so small that the code is a zero of the same sign.
        const std::uint32_t inverse = PackBf16(Fp8InverseScale(byte), Fp8InverseScale(byte));
        const auto codes = [&](const Bf16Words<kWords>& v, std::uint8_t* out) {
          std::uint32_t word[kPairs<kWords>];
#pragma unroll
          for (int i = 0; i < kPairs<kWords>; ++i) {
            const std::uint32_t a = ScaleBf16(Pair(v, i).x, inverse);
            const std::uint32_t b = ScaleBf16(Pair(v, i).y, inverse);
            word[i] = PackE4m3(Bf16Low(a), Bf16High(a), Bf16Low(b), Bf16High(b));
          }
          if constexpr (kWords == 1) {
            *reinterpret_cast<std::uint16_t*>(out) = static_cast<std::uint16_t>(word[0]);
          } else {
            *reinterpret_cast<uint2*>(out) = make_uint2(word[0], word[1]);
          }
        };
        std::uint8_t* out = arguments.codes + (row + w * Shape::kHeads) * kHead + part * (2 * kWords);
        codes(nope[w], out);
        codes(rope[w], out + kNope);
      }
    }
    weight = __fmul_rn(weight, __uint_as_float(kept << 23));  // 2^e; byte 255 is infinity
  }
  if (lane.folds()) StoreFolded(arguments, heads.token, lane.FoldedHead(heads), weight);
}

}  // namespace kvexact::gpu
