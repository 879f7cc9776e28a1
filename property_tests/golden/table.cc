// SPDX-License-Identifier: Apache-2.0
#include "property_tests/golden/table.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace kvexact::golden {
namespace {

std::string Strip(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::vector<std::vector<std::string>> ReadTable(const std::string& name) {
  const std::string path = std::string(KVEXACT_GOLDEN_DIR) + "/vectors/" + name;
  std::ifstream file(path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream columns(line);
    rows.emplace_back();
    for (std::string column; std::getline(columns, column, '|');) rows.back().push_back(Strip(column));
  }
  if (rows.empty()) throw std::runtime_error(path + ": no rows");
  return rows;
}

float ParseFloat(const std::string& text) {
  char* end = nullptr;
  const double wide = std::strtod(text.c_str(), &end);
  const auto narrow = static_cast<float>(wide);
  if (text.empty() || *end != '\0' || (!std::isnan(wide) && static_cast<double>(narrow) != wide)) {
    throw std::runtime_error("not an fp32 value: " + text);
  }
  return narrow;
}

std::uint32_t ParseCode(const std::string& text) {
  std::size_t used = 0;
  const unsigned long code = std::stoul(text, &used, 16);
  if (used != text.size()) throw std::runtime_error("not a code: " + text);
  return static_cast<std::uint32_t>(code);
}

std::vector<Block> ReadBlocks() {
  std::vector<Block> blocks;
  for (const auto& row : ReadTable("blocks.txt")) {
    Block block{row.at(0).substr(0, row.at(0).find(' ')), row.at(1), std::stoi(row.at(2)), {}, {}};
    std::istringstream items(row.at(3));
    for (std::string item; items >> item;) {
      const auto equals = item.find('=');
      block.values.push_back(ParseFloat(item.substr(0, equals)));
      block.codes.push_back(ParseCode(item.substr(equals + 1)));
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace kvexact::golden
