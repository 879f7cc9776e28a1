// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kvexact {

// docs/faults.md, from the table.
std::string FaultsMarkdown();

}  // namespace kvexact
