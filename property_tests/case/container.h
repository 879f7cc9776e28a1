// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvexact::test {

// A safetensors file of this header text and `data_bytes` bytes of data, the length being the header's
// unless another is given.
std::vector<std::uint8_t> Container(const std::string& header, std::size_t data_bytes);
std::vector<std::uint8_t> ContainerOfLength(std::uint64_t length, const std::string& header, std::size_t data_bytes);

// The header text of a well-formed file, and the file with another one.
std::string HeaderOf(const std::vector<std::uint8_t>& file);
std::vector<std::uint8_t> WithHeader(const std::vector<std::uint8_t>& file, const std::string& header);

// `text` with the only occurrence of `from` replaced; the test fails if it does not occur once.
std::string Replaced(const std::string& text, const std::string& from, const std::string& to);

}  // namespace kvexact::test
