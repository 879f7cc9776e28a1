// SPDX-License-Identifier: Apache-2.0
// What the HTML pages share: one self-contained file without scripts, light or dark as the reader's system is.
#pragma once

#include <string>
#include <vector>

namespace kvexact {

// A whole page, well-formed as XML too. `title` is plain text, `body` markup.
std::string HtmlPage(const std::string& title, const std::string& body);

// A table; all cells are plain text. The first `left` columns are names, the others numbers, aligned to the right.
// A cell whose text is a verdict (exact, allowed, wrong, ...) is coloured, as is a number that is not 0 in a column of
// a fault (wrong, touched, unwritten, unstable). No line has more cells than the header.
std::string HtmlTable(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& lines,
                      std::size_t left);

// A folded part: its summary, plain text, and its markup.
std::string HtmlFold(const std::string& summary, const std::string& body, bool open);

}  // namespace kvexact
