// SPDX-License-Identifier: Apache-2.0
// CaseSpecs for rapidcheck: drawn as `verify` draws them, shrunk as it shrinks them.
#pragma once

#include <rapidcheck.h>

#include <functional>
#include <ostream>

#include "harness/generate/case_spec.h"

namespace kvexact {

// How rapidcheck prints a counterexample: the line that --spec takes.
void showValue(const CaseSpec& spec, std::ostream& out);

namespace properties {

// Drawn specs of those operations for which `change` (which may adapt the spec) holds. Shrinks stay among them.
rc::Gen<CaseSpec> Specs(
    std::vector<spec::Operation> operations, std::function<bool(CaseSpec&)> change = [](CaseSpec&) { return true; });

std::vector<spec::Operation> AllOperations();
std::vector<spec::Operation> StateOperations();  // those that gather
std::vector<spec::Operation> StoreOperations();  // those that write a paged cache

}  // namespace properties
}  // namespace kvexact
