// SPDX-License-Identifier: Apache-2.0
#include "harness/report/table_text.h"

#include <algorithm>

namespace kvexact {

std::string TableText(const std::vector<std::vector<std::string>>& lines, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& cells : lines) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const auto& cells : lines) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string fill(widths[i] - cells[i].size(), ' ');
      line += i < left ? cells[i] + fill : fill + cells[i];
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace kvexact
