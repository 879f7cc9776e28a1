// SPDX-License-Identifier: Apache-2.0
#include "property_tests/properties/spec_gen.h"

#include "harness/generate/draw.h"
#include "harness/generate/simpler.h"

namespace kvexact {

void showValue(const CaseSpec& spec, std::ostream& out) { out << ToText(spec); }

namespace properties {
namespace {

// Crowds and caches of many pages are for runs that look for faults; here they would take the time.
bool IsSmall(const CaseSpec& spec) {
  constexpr std::int64_t kMostTokens = 400;
  constexpr std::int64_t kMostPages = 8;
  return TokensOf(spec) <= kMostTokens && spec.spare_pages <= kMostPages && spec.spare_blocks <= kMostPages;
}

template <class Holds>
std::vector<spec::Operation> OperationsThat(const Holds& holds) {
  std::vector<spec::Operation> operations;
  for (const spec::OperationRow& row : spec::kOperations) {
    if (holds(row)) operations.push_back(row.id);
  }
  return operations;
}

}  // namespace

rc::Gen<CaseSpec> Specs(std::vector<spec::Operation> operations, std::function<bool(CaseSpec&)> change) {
  return rc::Gen<CaseSpec>([=](const rc::Random& given, int) {
    rc::Random random = given;
    DrawSettings settings;
    settings.operations = operations;
    CaseSpec spec;
    do {
      settings.seed = random.next();
      spec = Draw(settings, random.next() % 1000);
    } while (!IsSmall(spec) || !change(spec));
    return rc::shrinkable::shrinkRecur(std::move(spec), [change](const CaseSpec& failing) {
      std::vector<CaseSpec> simpler;
      for (CaseSpec& candidate : SimplerSpecs(failing)) {
        if (change(candidate)) simpler.push_back(std::move(candidate));
      }
      return rc::seq::fromContainer(std::move(simpler));
    });
  });
}

std::vector<spec::Operation> AllOperations() {
  return OperationsThat([](const spec::OperationRow&) { return true; });
}
std::vector<spec::Operation> StateOperations() {
  return OperationsThat([](const spec::OperationRow& row) { return row.reads_state; });
}
std::vector<spec::Operation> StoreOperations() {
  return OperationsThat([](const spec::OperationRow& row) { return row.layout != nullptr; });
}

}  // namespace properties
}  // namespace kvexact
