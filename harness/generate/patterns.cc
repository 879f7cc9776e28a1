// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/patterns.h"

#include "harness/generate/counter_hash.h"
#include "harness/generate/exact_float.h"

namespace kvexact::generate {
namespace {

// A code format with 2^mantissa_bits codes a binade; `unit` is its smallest positive value.
struct CodeGrid {
  std::int64_t codes;  // finite codes from +0 up
  int mantissa_bits;
  float unit;
  int low_binade;  // scales are 2^k, k in [low_binade, high_binade] ...
  int high_binade;
  int far_low_binade;  // ... and now and then in this wider range
  int far_high_binade;
};

// Below 2^-22 the floor of 1e-4 on the maximum hides a group of E4M3.
constexpr CodeGrid kE4M3Grid{127, 3, 0x1p-9F, -24, 16, -30, 118};
constexpr CodeGrid kE2M1Grid{8, 1, 0.5F, -34, 16, -126, 124};

// The value of code c: c units up to 2^mantissa_bits, then a mantissa of mantissa_bits and a growing exponent.
float ValueOf(const CodeGrid& grid, std::int64_t code) {
  const std::int64_t per_binade = std::int64_t{1} << grid.mantissa_bits;
  if (code < per_binade) return static_cast<float>(code) * grid.unit;
  const auto shift = static_cast<int>(code / per_binade) - 1;
  return static_cast<float>(per_binade + code % per_binade) * grid.unit * PowerOfTwo(shift);
}

// Halfway between codes c and c + 1; exact.
float MidpointAbove(const CodeGrid& grid, std::int64_t code) {
  return (ValueOf(grid, code) + ValueOf(grid, code + 1)) * 0.5F;
}

// x or, half the time, a neighbour of x in bf16 or fp32.
float Nudged(float x, Stream& stream) {
  return Step(x, stream.Pick<std::int32_t>({0, 0, 0, 0, kBf16Ulp, -kBf16Ulp, 1, -1}));
}

int PickBinade(const CodeGrid& grid, Stream& stream) {
  if (stream.OneIn(8)) return static_cast<int>(stream.Between(grid.far_low_binade, grid.far_high_binade));
  return static_cast<int>(stream.Between(grid.low_binade, grid.high_binade));
}

void FillMidpoints(const CodeGrid& grid, Stream& stream, std::span<float> group) {
  const float scale = PowerOfTwo(PickBinade(grid, stream));
  const auto anchor = static_cast<std::size_t>(stream.Below(static_cast<std::int64_t>(group.size())));
  const std::int64_t top = grid.codes - 1;
  for (std::size_t i = 0; i < group.size(); ++i) {
    // The anchor is at least the last binade's end, so that it alone sets the scale.
    float x = i == anchor       ? ValueOf(grid, stream.OneIn(2) ? top : stream.Between(top - 1, top))
                    : stream.OneIn(8) ? ValueOf(grid, stream.Below(top))
                                : Nudged(MidpointAbove(grid, stream.Below(top)), stream);
    group[i] = Signed(x * scale, stream.Next());
  }
}

void FillEdge(const CodeGrid& grid, Stream& stream, std::span<float> group) {
  const float scale = PowerOfTwo(PickBinade(grid, stream));
  const auto anchor = static_cast<std::size_t>(stream.Below(static_cast<std::int64_t>(group.size())));
  const float top = ValueOf(grid, grid.codes - 1);
  const float edge = Nudged(top, stream);
  const int shrink = static_cast<int>(stream.Below(3));
  for (std::size_t i = 0; i < group.size(); ++i) {
    const float x = i == anchor ? edge : Unit(stream.Next()) * top * PowerOfTwo(-shrink);
    group[i] = Signed(x * scale, stream.Next());
  }
}

void FillBf16Midpoints(Stream& stream, std::span<float> group) {
  for (float& x : group) {
    const std::int64_t exponent = stream.Between(127 - 6, 127 + 6);
    const auto upper = static_cast<std::uint32_t>(exponent << 7 | stream.Below(128));
    const std::uint32_t lower = stream.Pick<std::uint32_t>({0x8000, 0x8000, 0x8001, 0x7FFF});
    x = Signed(std::bit_cast<float>(upper << 16 | lower), stream.Next());
  }
}

}  // namespace

void FillPattern(ValueKind kind, std::uint64_t stream_key, std::span<float> group) {
  Stream stream(stream_key);
  switch (kind) {
    case ValueKind::kE4M3Mid:
      return FillMidpoints(kE4M3Grid, stream, group);
    case ValueKind::kE4M3Edge:
      return FillEdge(kE4M3Grid, stream, group);
    case ValueKind::kE2M1Mid:
      return FillMidpoints(kE2M1Grid, stream, group);
    case ValueKind::kE2M1Edge:
      return FillEdge(kE2M1Grid, stream, group);
    default:
      return FillBf16Midpoints(stream, group);
  }
}

}  // namespace kvexact::generate
