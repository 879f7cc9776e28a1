// SPDX-License-Identifier: Apache-2.0
#include "harness/run/poison.h"

#include <gtest/gtest.h>

#include <array>

#include "harness/backend/backend.h"
#include "harness/run/element_sites.h"
#include "property_tests/run/small_specs.h"

namespace kvexact {
namespace {

class PoisonTest : public testing::TestWithParam<SmallSpec> {
 protected:
  PoisonTest() : strict_(case_.outputs_before) { MakeReferenceBackend()->Run(case_, strict_); }

  TensorMap Fill(const Poison& poison, std::uint64_t seed) const { return Poisoned(strict_, written_, poison, seed); }

  const Case case_ = SmallCase(GetParam());
  const ByteRanges written_ = WrittenBytes(case_, SeedStages());
  TensorMap strict_;
};

TEST_P(PoisonTest, NoElementIsTheModelsOrTheSameInBothFills) {
  const TensorMap first = Fill(kFirstPoison, 1);
  const TensorMap second = Fill(kSecondPoison, 1);
  std::int64_t elements = 0;
  ForEachElement(case_, SeedStages(), [&](const ElementSite& site) {
    ++elements;
    ASSERT_NE(site.Load(first), site.Load(strict_));
    ASSERT_NE(site.Load(second), site.Load(strict_));
    ASSERT_NE(site.Load(first), site.Load(second));
  });
  EXPECT_GT(elements, 0);
}

TEST_P(PoisonTest, SitesCoverExactlyTheWrittenBytes) {
  TensorMap marks = case_.outputs_before;
  for (auto& [name, tensor] : marks) std::fill_n(tensor.bytes(), tensor.size_bytes(), std::uint8_t{0});
  ForEachElement(case_, SeedStages(), [&](const ElementSite& site) {
    for (int i = 0; i < site.bytes; ++i) {
      std::uint8_t& mark = marks.at(site.buffer).bytes()[site.byte_offset + i];
      const int bits = site.shift < 0 ? 0xFF : 0xF << site.shift;
      ASSERT_EQ(mark & bits, 0) << "two elements share a bit";
      mark = static_cast<std::uint8_t>(mark | bits);
    }
  });
  for (const auto& [name, ranges] : written_) {
    for (const ByteRange& range : ranges) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        std::uint8_t& mark = marks.at(name).bytes()[i];
        ASSERT_EQ(mark, 0xFF) << name << " byte " << i << " belongs to no element";
        mark = 0;
      }
    }
  }
  for (const auto& [name, tensor] : marks) {
    for (const std::uint8_t mark : tensor.byte_span()) ASSERT_EQ(mark, 0) << name << ": an element is not written";
  }
}

TEST_P(PoisonTest, OtherBytesAreRandomByStreamAndSeed) {
  EXPECT_EQ(Fill(kFirstPoison, 1), Fill(kFirstPoison, 1));
  EXPECT_NE(Fill(kFirstPoison, 1), Fill(kFirstPoison, 2));
  EXPECT_NE(Fill({0xC3, 1}, 1), Fill({0xC3, 2}, 1));
}

INSTANTIATE_TEST_SUITE_P(Operations, PoisonTest, testing::ValuesIn(SmallSpecs()),
                         [](const auto& spec) { return std::string(spec.param.name); });

TEST(Poison, RandomBytesAreEvenlySpread) {
  TensorMap zeros;
  zeros.emplace("kv_cache", Tensor(DType::kU8, {1 << 16}));
  const TensorMap filled = Poisoned(zeros, {{"kv_cache", {}}}, kFirstPoison, 5);
  std::array<int, 256> counts{};
  for (const std::uint8_t byte : filled.at("kv_cache").byte_span()) ++counts[byte];
  for (const int count : counts) {
    EXPECT_GT(count, 256 - 100);
    EXPECT_LT(count, 256 + 100);
  }
}

TEST(Poison, SeedOfTellsNamesApart) {
  EXPECT_EQ(SeedOf("a"), SeedOf("a"));
  EXPECT_NE(SeedOf("a"), SeedOf("b"));
  EXPECT_NE(SeedOf("ab"), SeedOf("ba"));
  EXPECT_NE(SeedOf(""), SeedOf(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace kvexact
