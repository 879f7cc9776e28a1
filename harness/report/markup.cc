// SPDX-License-Identifier: Apache-2.0
#include "harness/report/markup.h"

#include <algorithm>

#include "harness/case/input_error.h"

namespace kvexact {

std::string MarkupText(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : Printable(text, limit)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string MarkdownText(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : Printable(text, limit)) {
    if (std::string_view("\\`*_{}[]()<>#+!|~&").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string MarkdownCode(std::string_view text, std::size_t limit) {
  const std::string line = Printable(text, limit);
  std::size_t longest = 2;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t end = std::min(line.find_first_not_of('`', i), line.size());
    longest = std::max(longest, end - i);
    i = end + 1;
  }
  const std::string fence(longest + 1, '`');
  return fence + "\n" + line + "\n" + fence + "\n";
}

}  // namespace kvexact
