// SPDX-License-Identifier: Apache-2.0
// An MXFP4 block that holds an infinity has the scale 2^127. Its factor 2^-127 is subnormal: an implementation that
// computes it as exp2(-127) and flushes stores zeros, and NaN for the infinity.
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "harness/backend/backend.h"
#include "harness/generate/generate.h"
#include "harness/judge/judge.h"
#include "harness/run/element_sites.h"

namespace kvexact {
namespace {

constexpr std::uint32_t kClampedScale = 0xFE;
constexpr std::uint32_t kSign = 0x8;
constexpr std::uint32_t kNan = 0x7;

void StoreNibble(const ElementSite& site, std::uint32_t code, TensorMap& outputs) {
  std::uint8_t& byte = outputs.at(site.buffer).bytes()[site.byte_offset];
  byte = static_cast<std::uint8_t>((byte & ~(0xF << site.shift)) | static_cast<int>(code << site.shift));
}

class FlushedFactorTest : public testing::Test {
 protected:
  explicit FlushedFactorTest(const char* spec = "op=indexer_mxfp4 ratio=1 overlap=false requests=0+1 weights=extreme")
      : case_(Generate(ParseSpec(spec))), after_(case_.outputs_before) {
    MakeReferenceBackend()->Run(case_, after_);
    ForEachElement(case_, SeedStages(), [&](const ElementSite& site) {
      auto& block = blocks_[{site.token, site.head}];
      (site.kind == ElementKind::kScale ? block.scales : block.codes).push_back(site);
    });
  }

  // Flushes the codes of each block that holds an infinity, but keeps the first `kept` of those that are not zero.
  // Returns how many codes changed.
  int Flush(int kept = 0) {
    int changed = 0;
    for (const auto& [cell, stored] : blocks_) {
      for (const ElementSite& site : stored.codes) {
        if (site.element / 32 >= static_cast<std::int64_t>(stored.scales.size())) continue;
        const ElementSite& scale = stored.scales[static_cast<std::size_t>(site.element / 32)];
        if (scale.Load(after_) != kClampedScale) continue;
        const std::uint32_t code = site.Load(after_);
        // The largest finite bf16 times 2^-127 is below 2; only an infinity gives 6.
        const std::uint32_t flushed = (code & 7U) == 7 ? kNan : code & kSign;
        if (flushed == code || kept-- > 0) continue;
        StoreNibble(site, flushed, after_);
        ++changed;
      }
    }
    return changed;
  }

  std::int64_t Wrong() const { return Judge(case_, {}, case_.outputs_before, after_).total().wrong; }

  struct Stored {
    std::vector<ElementSite> codes;
    std::vector<ElementSite> scales;
  };
  Case case_;
  TensorMap after_;
  std::map<std::pair<std::int64_t, std::int64_t>, Stored> blocks_;
};

TEST_F(FlushedFactorTest, CompressionMayFlushWholeBlocks) {
  ASSERT_EQ(Wrong(), 0);
  ASSERT_GT(Flush(), 16);
  EXPECT_EQ(Wrong(), 0);
}

TEST_F(FlushedFactorTest, NoBlockIsFlushedInPart) {
  ASSERT_GT(Flush(3), 16);
  EXPECT_GT(Wrong(), 0);
}

TEST_F(FlushedFactorTest, FlushedCodesKeepTheirSign) {
  ASSERT_GT(Flush(), 16);
  const ElementSite& site = blocks_.begin()->second.codes.front();
  StoreNibble(site, site.Load(after_) ^ kSign, after_);
  EXPECT_EQ(Wrong(), 1);
}

class FlushedFactorOfQTest : public FlushedFactorTest {
 protected:
  FlushedFactorOfQTest() : FlushedFactorTest("op=indexer_q_mxfp4 heads=2 requests=0+1 special=neginf") {}
};

TEST_F(FlushedFactorOfQTest, QDividesByItsScale) {
  ASSERT_GT(Flush(), 0);
  EXPECT_GT(Wrong(), 0);
}

}  // namespace
}  // namespace kvexact
