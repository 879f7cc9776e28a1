// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/values.h"

#include <algorithm>
#include <bit>

#include "harness/generate/counter_hash.h"
#include "harness/generate/exact_float.h"
#include "harness/generate/patterns.h"

namespace kvexact::generate {
namespace {

// Stream indices above every element's, for choices a row or a group makes once.
constexpr std::uint64_t kRowChoice = std::uint64_t{1} << 40;
constexpr std::uint64_t kGroupChoice = std::uint64_t{1} << 41;

// A bell of 48 bits; 16 random bits are left at the top.
float ShortBell(std::uint64_t random) {
  const auto sum = static_cast<std::int32_t>((random & 0xFFFF) + ((random >> 16) & 0xFFFF) + ((random >> 32) & 0xFFFF));
  return static_cast<float>(sum - 3 * (1 << 15)) * 0x1p-15F;
}

float Heavy(std::uint64_t random) {
  const int doublings = std::countr_zero((random >> 48) | 0x8000U);
  return ShortBell(random) * PowerOfTwo(doublings);
}

float Wide(std::uint64_t random) {
  const int binade = static_cast<int>((random >> 32) % 41) - 20;
  return Signed(PowerOfTwo(binade) * (1.0F + static_cast<float>(random & 0x7FFFFF) * 0x1p-23F), random >> 24);
}

float Subnormal(std::uint64_t random) {
  const auto mantissa = static_cast<std::uint32_t>(random & 0x7FFFFF) >> ((random >> 32) % 23);
  return Signed(std::bit_cast<float>(mantissa), random >> 24);
}

// Magnitude below 2^116: a window of 1024 rows sums up without overflow.
float AnyBits(std::uint64_t random) {
  const auto exponent = static_cast<std::uint32_t>((random >> 32) % (116 + 127));
  return Signed(std::bit_cast<float>(exponent << 23 | static_cast<std::uint32_t>(random & 0x7FFFFF)), random >> 24);
}

int BinadeOf(std::uint64_t random) { return static_cast<int>(random % 25) - 12; }

template <class Element>
void Fill(const RowKey& row, std::span<float> out, Element&& element) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = element(At(row.stream, i), i);
}

void FillScaledBell(const RowKey& row, float scale, std::span<float> out) {
  Fill(row, out, [&](std::uint64_t random, std::size_t) { return Bell(random) * scale; });
}

}  // namespace

void FillValues(ValueKind kind, const RowKey& row, std::int64_t group, std::span<float> out) {
  const std::uint64_t row_choice = At(row.stream, kRowChoice);
  const auto per_element = [&](auto element) {
    Fill(row, out, [&](std::uint64_t random, std::size_t) { return element(random); });
  };
  switch (kind) {
    case ValueKind::kNormal:
      return FillScaledBell(row, 1.0F, out);
    case ValueKind::kNearOne:
      return per_element([](std::uint64_t random) { return 0.5F + Unit(random); });
    case ValueKind::kOne:
      return std::fill(out.begin(), out.end(), 1.0F);
    case ValueKind::kHeavy:
      return per_element(Heavy);
    case ValueKind::kNegative:
      return per_element([](std::uint64_t random) {
        const float x = Heavy(random);
        return x > 0 ? -x : x;
      });
    case ValueKind::kWide:
      return per_element(Wide);
    case ValueKind::kGroups:
      return Fill(row, out, [&](std::uint64_t random, std::size_t i) {
        const std::uint64_t choice = At(row.stream, kGroupChoice + i / static_cast<std::uint64_t>(group));
        return Bell(random) * PowerOfTwo(BinadeOf(choice));
      });
    case ValueKind::kRows:
      return FillScaledBell(row, PowerOfTwo(BinadeOf(row_choice)), out);
    case ValueKind::kConstant:
      return std::fill(out.begin(), out.end(), Bell(row_choice));
    case ValueKind::kIntegers:
      return per_element([](std::uint64_t random) { return static_cast<float>(static_cast<int>(random % 17) - 8); });
    case ValueKind::kCancel: {
      const float offset = row.index % 2 == 0 ? 1000.0F : -1000.0F;
      return per_element([offset](std::uint64_t random) { return offset + Bell(random) * 0x1p-10F; });
    }
    case ValueKind::kNearEps:
      return FillScaledBell(row, 0x1p-10F, out);
    case ValueKind::kTiny:
      return FillScaledBell(row, 0x1p-40F, out);
    case ValueKind::kHuge:
      return FillScaledBell(row, 0x1p40F, out);
    case ValueKind::kOverflow:
      return FillScaledBell(row, PowerOfTwo(57 + static_cast<int>(row_choice % 7)), out);
    case ValueKind::kExtreme:
      return per_element([](std::uint64_t random) {
        return Signed(PowerOfTwo(126 + static_cast<int>((random >> 32) & 1U)) *
                          (1.0F + static_cast<float>(random & 0x7FFFFF) * 0x1p-23F),
                      random >> 24);
      });
    case ValueKind::kSubnormal:
      return per_element(Subnormal);
    case ValueKind::kZero:
      return per_element([](std::uint64_t random) { return Signed(0.0F, random); });
    case ValueKind::kSparse:
      return per_element([](std::uint64_t random) { return random >> 60 == 0 ? Bell(random) : Signed(0.0F, random); });
    case ValueKind::kBits:
      return per_element(AnyBits);
    case ValueKind::kDrive:
      return per_element([](std::uint64_t random) { return Signed(0x1p20F, random >> 32); });
    case ValueKind::kE4M3Mid:
    case ValueKind::kE4M3Edge:
    case ValueKind::kE2M1Mid:
    case ValueKind::kE2M1Edge:
    case ValueKind::kBf16Mid:
      for (std::size_t begin = 0; begin < out.size(); begin += static_cast<std::size_t>(group)) {
        const std::size_t size = std::min(out.size() - begin, static_cast<std::size_t>(group));
        FillPattern(kind, StreamKey(row.stream, {begin}), out.subspan(begin, size));
      }
      return;
  }
}

void FillAngles(AngleKind kind, std::uint64_t stream, std::int64_t rope, std::span<float> out) {
  const auto pairs = static_cast<std::size_t>(rope / 2);
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::uint64_t random = At(stream, i);
    float& cosine = out[i];
    float& sine = out[pairs + i];
    switch (kind) {
      case AngleKind::kUnit: {
        // The rational point of the circle for the half-angle tangent b / a, turned into any quadrant.
        const auto a = static_cast<std::int32_t>(random & 0x7FF) + 1;
        const auto b = static_cast<std::int32_t>((random >> 16) & 0x7FF);
        const auto square = static_cast<float>(a * a + b * b);
        cosine = Signed(static_cast<float>(a * a - b * b) / square, random >> 32);
        sine = Signed(static_cast<float>(2 * a * b) / square, random >> 33);
        break;
      }
      case AngleKind::kIdentity:
        cosine = 1.0F;
        sine = 0.0F;
        break;
      case AngleKind::kQuarter: {
        const bool turned = (random & 1U) != 0;
        cosine = turned ? 0.0F : Signed(1.0F, random >> 1);
        sine = turned ? Signed(1.0F, random >> 1) : 0.0F;
        break;
      }
      case AngleKind::kWild:
        cosine = 4.0F * Unit(random) - 2.0F;
        sine = 4.0F * Unit(Mix(random)) - 2.0F;
        break;
    }
  }
}

}  // namespace kvexact::generate
