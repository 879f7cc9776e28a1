// SPDX-License-Identifier: Apache-2.0
#include "property_tests/generate/any_spec.h"

#include <limits>

#include "harness/generate/counter_hash.h"
#include "harness/generate/draw.h"

namespace kvexact::test {

CaseSpec AnySpec(std::uint64_t seed) {
  using namespace generate;  // NOLINT(google-build-using-namespace): the kinds, in one function
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  settings.seed = seed;
  Stream stream(StreamKey(seed, {99}));
  CaseSpec spec = Draw(settings, static_cast<std::uint64_t>(stream.Below(1000)));
  spec.seed = stream.Next();
  if (stream.OneIn(2)) spec.garbage = Garbage::kAll;
  if (stream.OneIn(2)) spec.tail = stream.Below(40);
  if (stream.OneIn(2)) spec.values = static_cast<ValueKind>(stream.Below(kValueKindNames.size()));
  if (spec.config.op == spec::Operation::kTwoStage && stream.OneIn(2)) {
    spec.decode = stream.Pick({std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()});
  }
  if (spec::row(spec.config.op).reads_state) {
    spec.spare_blocks = stream.Below(20);
    spec.spare_columns = stream.Below(20);
    spec.scores = static_cast<ScoreKind>(stream.Below(kScoreKindNames.size()));
  }
  if (spec::row(spec.config.op).layout != nullptr) {
    spec.skip_kv_slots = stream.Below(101);
    spec.spare_pages = stream.Below(5);
    spec.weights = static_cast<ValueKind>(stream.Below(kValueKindNames.size()));
    spec.eps = static_cast<double>(stream.Next() >> 11) * 0x1p-60 + 0x1p-100;
  }
  return spec;
}

}  // namespace kvexact::test
