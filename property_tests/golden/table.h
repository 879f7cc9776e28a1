// SPDX-License-Identifier: Apache-2.0
// The tables in golden/vectors: rows of columns separated by '|'.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvexact::golden {

// Rows of golden/vectors/<name>, columns stripped, comments left out. Throws std::runtime_error if there is none.
std::vector<std::vector<std::string>> ReadTable(const std::string& name);

// A float as the tables write it: decimal or hexadecimal, inf, nan, with a sign. Throws std::runtime_error for anything
// else and for a finite number that is not an fp32 value.
float ParseFloat(const std::string& text);

// Hexadecimal digits without prefix.
std::uint32_t ParseCode(const std::string& text);

// A row of blocks.txt.
struct Block {
  std::string kind;  // without the mark "fp32"
  std::string name;
  int exponent;
  std::vector<float> values;
  std::vector<std::uint32_t> codes;
};
std::vector<Block> ReadBlocks();

}  // namespace kvexact::golden
