// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
// gtest first: rapidcheck's header builds on it.
#include <rapidcheck/gtest.h>

#include <cfloat>
#include <limits>
#include <string>

#include "harness/case/schema.h"
#include "harness/generate/case_spec.h"
#include "harness/generate/spec_fields.h"
#include "property_tests/generate/any_spec.h"

namespace kvexact {
namespace {

using spec::Operation;

RC_GTEST_PROP(SpecText, ParsesToTheSameSpec, (std::uint64_t seed)) {
  const CaseSpec spec = test::AnySpec(seed);
  RC_ASSERT(ParseSpec(ToText(spec)) == spec);
}

RC_GTEST_PROP(SpecText, ParsesWhateverTheOrderOfItsSettings, (std::uint64_t seed)) {
  const CaseSpec spec = test::AnySpec(seed);
  std::string reversed;
  std::string rest = ToText(spec);
  while (!rest.empty()) {
    const std::size_t space = rest.find(' ');
    reversed.insert(reversed.begin(), ' ');
    reversed.insert(0, rest.substr(0, space));
    rest = space == std::string::npos ? "" : rest.substr(space + 1);
  }
  RC_ASSERT(ParseSpec(reversed) == spec);
}

TEST(SpecText, OfDefaultsIsTheOperationAlone) {
  for (const spec::OperationRow& row : spec::kOperations) {
    EXPECT_EQ(ToText(DefaultSpec(row.id)), std::string("op=") + row.name);
    EXPECT_EQ(ParseSpec(std::string("op=") + row.name), DefaultSpec(row.id));
    EXPECT_NO_THROW(Check(DefaultSpec(row.id)));
  }
}

TEST(SpecText, HoldsOnlyWhatDiffers) {
  CaseSpec spec = DefaultSpec(Operation::kSparseAttn);
  spec.config.ratio = 128;
  spec.seed = 18446744073709551615U;
  spec.requests = {{0, 5, 1}, {7, 1, 200}};
  spec.eps = 0.1 + 0.2;
  EXPECT_EQ(ToText(spec),
            "op=sparse_attn ratio=128 seed=18446744073709551615 requests=0+5,7+1x200 eps=0.30000000000000004");
  spec.requests.clear();
  EXPECT_EQ(ToText(spec.config), "op=sparse_attn ratio=128");
  EXPECT_NE(ToText(spec).find("requests=none"), std::string::npos);
}

struct BadText {
  const char* name;
  const char* text;
  const char* key;  // that the error names
};

void PrintTo(const BadText& bad, std::ostream* out) { *out << bad.name; }

class UnusableText : public testing::TestWithParam<BadText> {};

TEST_P(UnusableText, IsRefusedByKey) {
  try {
    ParseSpec(GetParam().text);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), GetParam().key) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, UnusableText,
    testing::Values(
        BadText{"empty", "", "op"}, BadText{"no_operation", "ratio=4", "op"},
        BadText{"unknown_operation", "op=dense_attn", "op"}, BadText{"unknown_key", "op=sparse_attn rate=4", "rate"},
        BadText{"no_value", "op=sparse_attn ratio", "ratio"}, BadText{"empty_value", "op=sparse_attn ratio=", "ratio"},
        BadText{"key_twice", "op=sparse_attn ratio=4 ratio=4", "ratio"},
        BadText{"operation_twice", "op=sparse_attn op=sparse_attn", "op"},
        BadText{"word_for_a_number", "op=sparse_attn ratio=four", "ratio"},
        BadText{"text_behind_a_number", "op=sparse_attn ratio=4x", "ratio"},
        BadText{"number_too_long", "op=sparse_attn ratio=99999999999999999999", "ratio"},
        BadText{"negative_seed", "op=sparse_attn seed=-1", "seed"},
        BadText{"unknown_kind", "op=sparse_attn values=gaussian", "values"},
        BadText{"number_for_a_flag", "op=sparse_attn overlap=1", "overlap"},
        BadText{"bad_request", "op=sparse_attn requests=0", "requests"},
        BadText{"bad_request_count", "op=sparse_attn requests=0+1x", "requests"},
        BadText{"empty_request", "op=sparse_attn requests=0+1,", "requests"},
        BadText{"request_of_no_tokens", "op=sparse_attn requests=0+0", "requests"},
        BadText{"negative_position", "op=sparse_attn requests=-1+1", "requests"},
        BadText{"too_many_tokens", "op=sparse_attn requests=0+1048577", "requests"},
        BadText{"count_that_overflows", "op=sparse_attn requests=0+1048576x1048576", "requests"},
        BadText{"state_too_large", "op=sparse_attn ratio=1 requests=0+1000000", "requests"},
        BadText{"angles_too_large", "op=sparse_attn requests=1099511627775+1", "requests"},
        BadText{"window_too_long", "op=sparse_attn ratio=513", "ratio"},
        BadText{"setting_of_others", "op=sparse_attn heads=4", "heads"},
        BadText{"overlap_in_two_stage", "op=two_stage overlap=true", "overlap"},
        BadText{"padded_mxfp4", "op=indexer_mxfp4 token_pad=4", "token_pad"},
        BadText{"misaligned_base", "op=indexer_fp8 base=2", "base"},
        BadText{"misaligned_page", "op=sparse_attn page_multiple=3", "page_multiple"},
        BadText{"unknown_layout", "op=sparse_attn layout=paged", "layout"},
        BadText{"unfit_layout", "op=sparse_attn layout=indexer_fp8", "layout"},
        BadText{"odd_rope", "op=indexer_fp8 rope=63", "rope"}, BadText{"unfit_rope", "op=sparse_attn rope=32", "rope"},
        BadText{"uneven_splits", "op=gather_split splits=3", "splits"},
        BadText{"scores_of_finalize", "op=finalize special=score_nan", "special"},
        BadText{"eps_zero", "op=sparse_attn eps=0", "eps"}, BadText{"eps_nan", "op=sparse_attn eps=nan", "eps"},
        BadText{"scale_infinite", "op=indexer_q_fp8 head_scale=inf", "head_scale"},
        BadText{"percent_beyond_100", "op=sparse_attn skip_slots=101", "skip_slots"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace kvexact
