// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "harness/report/html.h"
#include "harness/report/markup.h"

namespace kvexact {
namespace {

constexpr int kLabel = 70;      // units left of the cells
constexpr int kRowHeight = 10;  // of which 8 are drawn
constexpr int kGap = 8;         // between sections
constexpr int kWidth = 1080;    // of all cells
constexpr int kTop = 14;        // above the rows
constexpr int kNarrowest = 56;  // a section, so that its title fits

// Sections stand a gap apart and share kWidth by their elements, but for those that would be too narrow.
class MapPicture {
 public:
  explicit MapPicture(const FailureMap& map) : map_(map) {
    const double all = kWidth - kGap * static_cast<double>(map.sections.size() - 1);
    double cells = 0;
    for (const MapSection& section : map.sections) cells += static_cast<double>(section.elements);
    double left = all;
    double wide_cells = cells;
    const auto narrow = [&](const MapSection& s) { return static_cast<double>(s.elements) * all < kNarrowest * cells; };
    for (const MapSection& section : map.sections) {
      if (!narrow(section)) continue;
      left -= kNarrowest;
      wide_cells -= static_cast<double>(section.elements);
    }
    for (const MapSection& section : map.sections) {
      const auto elements = static_cast<double>(section.elements);
      widths_.push_back(narrow(section) ? kNarrowest / std::max(elements, 1.0) : left / wide_cells);
    }
  }

  std::string Text() {
    const std::size_t height = kTop + kRowHeight * map_.rows.size();
    std::string text = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"map of wrong elements\">\n",
                                   kLabel + kWidth, height);
    double x = kLabel;
    for (std::size_t i = 0; i < map_.sections.size(); ++i) {
      const MapSection& section = map_.sections[i];
      text += fmt::format("<text x=\"{:.0f}\" y=\"9\">{} {}</text>\n", x, section.elements, NameOf(section.kind));
      x += static_cast<double>(section.elements) * widths_[i] + kGap;
    }
    for (std::size_t r = 0; r < map_.rows.size(); ++r) {
      const MapRow& row = map_.rows[r];
      const double y = kTop + kRowHeight * (static_cast<double>(r) + 0.5);
      text += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}{}</text>\n", y + 3, row.token,
                          row.head >= 0 ? fmt::format(", head {}", row.head) : "");
      DrawRow(row.cells, y);
    }
    for (const auto& [letter, path] : paths_) text += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", letter, path);
    return text + "</svg>\n";
  }

 private:
  void DrawRow(const std::string& cells, double y) {
    double x = kLabel;
    std::size_t begin = 0;
    for (std::size_t s = 0; s < map_.sections.size(); ++s) {
      const std::size_t end = begin + static_cast<std::size_t>(map_.sections[s].elements);
      for (std::size_t i = begin; i < end;) {
        const std::size_t stop = std::min(cells.find_first_not_of(cells[i], i), end);
        const double left = x + static_cast<double>(i - begin) * widths_[s];
        paths_[cells[i]] += fmt::format("M{:.1f} {:.0f}h{:.1f}", left, y, static_cast<double>(stop - i) * widths_[s]);
        i = stop;
      }
      x += static_cast<double>(end - begin) * widths_[s] + kGap;
      begin = end;
    }
  }

  const FailureMap& map_;
  std::vector<double> widths_;  // of a cell, by section
  std::map<char, std::string> paths_;
};

std::string Key(const FailureMap& map) {
  static constexpr std::pair<char, std::string_view> kNames[] = {
      {'e', "exact"}, {'a', "allowed"}, {'w', "wrong"}, {'n', "not written"}, {'u', "unstable"}, {'o', "left open"}};
  std::string text = "<p class=\"key faint\">Rows are tokens, columns elements:";
  for (const auto& [letter, name] : kNames) {
    for (const MapRow& row : map.rows) {
      if (row.cells.find(letter) == std::string::npos) continue;
      text += fmt::format("<span style=\"background: var(--{})\"></span>{}", letter, name);
      break;
    }
  }
  text += fmt::format(". {} rows are right", map.right_rows);
  if (map.more_wrong_rows > 0) text += fmt::format(", {} more are not", map.more_wrong_rows);
  return text + ".</p>\n";
}

}  // namespace

std::string MapHtml(const FailureMap& map) {
  std::string text;
  if (!map.rows.empty()) text += MapPicture(map).Text() + Key(map);
  if (map.touched.empty()) return text;
  text += "<p>Changed and must not:";
  for (const TouchedRange& range : map.touched) {
    text += fmt::format(" {} bytes {} to {};", MarkupText(range.buffer, 60), range.begin, range.end - 1);
  }
  text.pop_back();
  if (map.more_touched_ranges > 0) text += fmt::format(" and {} more ranges", map.more_touched_ranges);
  return text + ".</p>\n";
}

}  // namespace kvexact
