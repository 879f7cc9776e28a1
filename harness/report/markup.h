// SPDX-License-Identifier: Apache-2.0
// Texts of any origin for XML, HTML and Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kvexact {

// `text` as character data or an attribute's value: printable ASCII (other bytes as \xNN), cut to `limit` characters
// with "...", markup characters as entities.
std::string MarkupText(std::string_view text, std::size_t limit = 2000);

// `text` in a line or a table's cell of Markdown: printable as above, punctuation escaped.
std::string MarkdownText(std::string_view text, std::size_t limit = 2000);

// `text` as a fenced block of code of its own lines.
std::string MarkdownCode(std::string_view text, std::size_t limit = 4000);

}  // namespace kvexact
