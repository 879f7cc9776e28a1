// SPDX-License-Identifier: Apache-2.0
#include "harness/run/budgets.h"

#include <string_view>

namespace kvexact {

std::vector<std::string> AdmittingBudgets(const Evidence& evidence, const JudgeOptions& options) {
  std::vector<std::string> names;
  for (const Budget& budget : Budgets()) {
    if (std::string_view(budget.name) == options.budget->name) continue;
    JudgeOptions other = options;
    other.budget = &budget;
    const Tally total = Judge(evidence.c, other, evidence.before, evidence.after).total();
    if (total.wrong == 0 && total.unwritten == 0) names.emplace_back(budget.name);
  }
  return names;
}

}  // namespace kvexact
