// SPDX-License-Identifier: Apache-2.0
// Every single bit of what a GPU stored, flipped: each flip is reported as wrong or touched, unless it lands on another
// member of the element's allowed set. Elements where that happens must have a set of several members, and the
// tightness says how many there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "harness/case/case_file.h"
#include "harness/judge/judge.h"
#include "harness/judge/written_bytes.h"
#include "harness/run/element_sites.h"

namespace kvexact {
namespace {

struct Recording {
  const char* file;
  std::int64_t tokens;  // live tokens whose bits are flipped
};
std::ostream& operator<<(std::ostream& out, const Recording& recording) { return out << recording.file; }

// Leaves `live` of the case's tokens (heads of a Q token stay together); what the others stored is left where it is
// and must not change.
Case WithTokens(Case c, std::size_t live) {
  if (c.row().family == spec::Family::kIndexerQ) {
    c.params.num_actual = std::min<std::int64_t>(c.params.num_actual, static_cast<std::int64_t>(live));
  } else {
    std::set<std::int64_t> kept;
    ForEachElement(c, SeedStages(), [&](const ElementSite& site) {
      if (kept.size() < live) kept.insert(site.token);
    });
    Tensor& slots = c.inputs.at("slot_mapping");
    for (std::int64_t t = 0; t < c.params.num_actual; ++t) {
      if (!kept.contains(t)) slots.as<std::int64_t>()[t] = -1;
    }
  }
  return c;
}

class BitFlipTest : public testing::TestWithParam<Recording> {
 protected:
  BitFlipTest()
      : case_(WithTokens(ReadCaseFile(std::string(KVEXACT_RECORDED_CASES) + "/" + GetParam().file + ".safetensors"),
                         static_cast<std::size_t>(GetParam().tokens))),
        written_(WrittenBytes(case_, SeedStages())),
        before_(*case_.outputs_after) {
    // An element that keeps a flipped bit would look unwritten if the buffer had held it.
    for (const auto& [name, ranges] : written_) {
      for (const ByteRange& range : ranges) {
        for (std::int64_t i = range.begin; i < range.end; ++i) before_.at(name).bytes()[i] ^= 0xFF;
      }
    }
  }

  bool IsWritten(const std::string& buffer, std::int64_t byte) const {
    const std::vector<ByteRange>& ranges = written_.at(buffer);
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const ByteRange& range) { return byte >= range.begin && byte < range.end; });
  }

  const Case case_;
  const ByteRanges written_;
  TensorMap before_;
};

TEST_P(BitFlipTest, BitThatMustNotChangeIsTouched) {
  TensorMap after = *case_.outputs_after;
  std::int64_t flips = 0;
  for (auto& [name, tensor] : after) {
    for (std::int64_t byte = 0; byte < tensor.size_bytes(); ++byte) {
      if (IsWritten(name, byte)) continue;
      for (int bit = 0; bit < 8; ++bit) {
        tensor.bytes()[byte] ^= static_cast<std::uint8_t>(1 << bit);
        CaseVerdict verdict;
        CheckUntouched(written_, before_, after, verdict);
        ASSERT_EQ(verdict.touched, 1) << name << " byte " << byte << " bit " << bit;
        tensor.bytes()[byte] ^= static_cast<std::uint8_t>(1 << bit);
        ++flips;
      }
    }
  }
  EXPECT_GT(flips, 0);
}

TEST_P(BitFlipTest, BitOfAnElementIsWrongUnlessItLandsOnAnotherMember) {
  TensorMap after = *case_.outputs_after;
  const CaseVerdict recorded = Judge(case_, {}, before_, after);
  ASSERT_TRUE(recorded.right());

  struct Counts {
    std::int64_t flips = 0;
    std::int64_t other_zero = 0;  // +0 and -0 are one member
    std::int64_t members = 0;
    std::int64_t elements = 0;  // of which some flip is a member
  };
  std::map<ElementKind, Counts> counts;
  ForEachElement(case_, SeedStages(), [&](const ElementSite& site) {
    std::uint8_t* bytes = after.at(site.buffer).bytes() + site.byte_offset;
    Counts& count = counts[site.kind];
    bool lands = false;
    const std::uint32_t stored = site.Load(after);
    for (int bit = 0; bit < (site.shift < 0 ? 8 * site.bytes : 4); ++bit) {
      const int at = bit + std::max(site.shift, 0);
      bytes[at / 8] ^= static_cast<std::uint8_t>(1 << at % 8);
      const CaseVerdict verdict = Judge(case_, {}, before_, after);
      const int sign_bit = site.shift < 0 ? 8 * site.bytes - 1 : 3;
      const bool magnitude_is_zero = (stored | site.Load(after)) == std::uint32_t{1} << sign_bit;
      bytes[at / 8] ^= static_cast<std::uint8_t>(1 << at % 8);
      ++count.flips;
      EXPECT_EQ(verdict.touched, 0);
      if (!verdict.right()) {
        // Other codes of the block may be wrong with a scale; the flipped element is among the problems.
        EXPECT_GE(verdict.total().wrong, 1);
        EXPECT_EQ(verdict.total().unwritten, 0);
      } else if (magnitude_is_zero && site.kind != ElementKind::kScale) {
        ++count.other_zero;
      } else {
        ++count.members;
        lands = true;
      }
    }
    if (lands) ++count.elements;
  });

  for (const auto& [kind, count] : counts) {
    const Tally& tally = recorded.tally(kind);
    const std::int64_t several = tally.judged() - tally.single;
    RecordProperty(std::string(NameOf(kind)) + "_flips", std::to_string(count.flips));
    RecordProperty(std::string(NameOf(kind)) + "_landed", std::to_string(count.members));
    std::printf(
        "%s %s: %lld flips, %lld on another member in %lld elements, %lld on the other zero; %lld of %lld sets "
        "have several members\n",
        GetParam().file, NameOf(kind), static_cast<long long>(count.flips), static_cast<long long>(count.members),
        static_cast<long long>(count.elements), static_cast<long long>(count.other_zero),
        static_cast<long long>(several), static_cast<long long>(tally.judged()));
    EXPECT_LE(count.elements, several) << NameOf(kind) << ": a set of one member admits a second";
  }
}

// The values next to a stored code or bf16 value, both zeros taken as one.
std::vector<std::uint32_t> Neighbours(std::uint32_t stored, int bits) {
  const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
  const std::uint32_t magnitude = stored & (sign - 1);
  if (magnitude == 0) return {1, sign | 1};
  return {(stored & sign) | (magnitude - 1), (stored & sign) | std::min(magnitude + 1, sign - 1)};
}

// Sets of codes and bf16 values are intervals, so one with several members holds a neighbour of the stored value.
TEST_P(BitFlipTest, NeighbourIsAdmittedExactlyWhereTheSetHasSeveralMembers) {
  TensorMap after = *case_.outputs_after;
  const CaseVerdict recorded = Judge(case_, {}, before_, after);
  std::map<ElementKind, std::int64_t> several = {{ElementKind::kCode, 0}, {ElementKind::kBf16, 0}};
  ForEachElement(case_, SeedStages(), [&](const ElementSite& site) {
    if (!several.contains(site.kind)) return;
    const std::uint32_t stored = site.Load(after);
    std::uint8_t* bytes = after.at(site.buffer).bytes() + site.byte_offset;
    const auto put = [&](std::uint32_t change) {
      for (int i = 0; i < site.bytes; ++i) {
        bytes[i] ^= static_cast<std::uint8_t>(change << std::max(site.shift, 0) >> (8 * i));
      }
    };
    bool admitted = false;
    for (const std::uint32_t neighbour : Neighbours(stored, site.shift < 0 ? 8 * site.bytes : 4)) {
      put(stored ^ neighbour);
      admitted |= neighbour != stored && Judge(case_, {}, before_, after).right();
      put(stored ^ neighbour);
    }
    if (admitted) ++several[site.kind];
  });
  for (const auto& [kind, count] : several) {
    const Tally& tally = recorded.tally(kind);
    EXPECT_EQ(count, tally.judged() - tally.single) << NameOf(kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, BitFlipTest,
                         testing::Values(Recording{"sparse_attn_drive", 1}, Recording{"indexer_fp8_chunked", 2},
                                         Recording{"indexer_mxfp4_weight_bf16", 2},
                                         Recording{"sparse_attn_ratio128", 1}, Recording{"indexer_q_fp8_normal", 1},
                                         Recording{"indexer_q_mxfp4_out_bf16", 1}),
                         [](const auto& recording) { return std::string(recording.param.file); });

}  // namespace
}  // namespace kvexact
