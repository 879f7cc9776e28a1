// SPDX-License-Identifier: Apache-2.0
#include "property_tests/case/container.h"

#include <gtest/gtest.h>

#include <cstring>

namespace kvexact::test {

std::vector<std::uint8_t> ContainerOfLength(std::uint64_t length, const std::string& header, std::size_t data_bytes) {
  std::vector<std::uint8_t> file(8 + header.size() + data_bytes, 0xA5);
  std::memcpy(file.data(), &length, 8);
  if (!header.empty()) std::memcpy(file.data() + 8, header.data(), header.size());
  return file;
}

std::vector<std::uint8_t> Container(const std::string& header, std::size_t data_bytes) {
  return ContainerOfLength(header.size(), header, data_bytes);
}

std::string HeaderOf(const std::vector<std::uint8_t>& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  const auto begin = file.begin() + 8;
  return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

std::vector<std::uint8_t> WithHeader(const std::vector<std::uint8_t>& file, const std::string& header) {
  std::vector<std::uint8_t> changed = Container(header, 0);
  changed.insert(changed.end(), file.begin() + 8 + static_cast<std::ptrdiff_t>(HeaderOf(file).size()), file.end());
  return changed;
}

std::string Replaced(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return at == std::string::npos ? text : text.substr(0, at) + to + text.substr(at + from.size());
}

}  // namespace kvexact::test
