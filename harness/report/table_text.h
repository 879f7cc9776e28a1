// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kvexact {

// Lines of cells as text, columns as wide as their widest cell: the first `left` columns aligned to the left, the
// others to the right.
std::string TableText(const std::vector<std::vector<std::string>>& lines, std::size_t left);

}  // namespace kvexact
