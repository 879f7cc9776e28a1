// SPDX-License-Identifier: Apache-2.0
#include "harness/case/input_error.h"

#include <utility>

namespace kvexact {
namespace {

constexpr std::size_t kMaxField = 120;
constexpr std::size_t kMaxWhat = 400;

void AppendEscaped(std::string& line, unsigned char byte) {
  constexpr char kHex[] = "0123456789abcdef";
  line += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
}

// Paths may be in any encoding: only what could break the line is escaped.
std::string WithoutControls(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      AppendEscaped(line, byte);
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

std::string Printable(std::string_view text, std::size_t limit) {
  std::string line;
  for (const char c : text) {
    if (line.size() >= limit) return line + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7E) {
      line += c;
    } else {
      AppendEscaped(line, byte);
    }
  }
  return line;
}

InputError::InputError(std::string source, std::string field, const std::string& what)
    : std::runtime_error(WithoutControls(source) + ": " + Printable(field, kMaxField) + ": " +
                         Printable(what, kMaxWhat)),
      source_(std::move(source)),
      field_(std::move(field)) {}

}  // namespace kvexact
