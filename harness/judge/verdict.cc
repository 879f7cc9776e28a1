// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/verdict.h"

namespace kvexact {

const char* NameOf(ElementKind kind) {
  static constexpr const char* kNames[kElementKinds] = {"code", "scale", "bf16", "fp32", "weight"};
  return kNames[static_cast<int>(kind)];
}

const char* NameOf(Finding finding) {
  static constexpr const char* kNames[] = {"exact", "allowed", "wrong", "unwritten", "unjudged"};
  return kNames[static_cast<int>(finding)];
}

Tally& Tally::operator+=(const Tally& other) {
  exact += other.exact;
  allowed += other.allowed;
  wrong += other.wrong;
  unwritten += other.unwritten;
  unjudged += other.unjudged;
  single += other.single;
  width_ulp += other.width_ulp;
  return *this;
}

Tally CaseVerdict::total() const {
  Tally sum;
  for (const Tally& tally : tallies) sum += tally;
  return sum;
}

bool CaseVerdict::right() const {
  const Tally sum = total();
  return sum.wrong == 0 && sum.unwritten == 0 && touched == 0;
}

}  // namespace kvexact
