// SPDX-License-Identifier: Apache-2.0
#include "harness/report/html_page.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/report/markup.h"

namespace kvexact {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --page: #fff; --text: #1c2127; --faint: #5f6b7a; --line: #d8dee6; --panel: #f5f7f9;
  --e: #cfe8d5; --a: #8fb8e8; --w: #d6263c; --n: #e8862a; --u: #9b4fd0; --o: #b9c0c8; --right: #1a7f37; --wrong: #c0182e;
  --none: #8a6100; --allowed: #1f5fa8; --p0: #2b6cb8; --p1: #d9822b; --p2: #2f9e44; --p3: #9b4fd0; }
@media (prefers-color-scheme: dark) { :root { --page: #14181d; --text: #dde3ea; --faint: #98a4b3; --line: #333c47;
  --panel: #1c2229; --e: #24452f; --a: #2f6cb3; --w: #ff5c6c; --n: #f0a04b; --u: #c08af0; --o: #4c5663; --right: #57c576;
  --wrong: #ff6b78; --none: #e0b04a; --allowed: #79b0ec; --p0: #5b9be0; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 84rem; background: var(--page); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 1.8rem 0 .5rem; }
.verdict { padding: .1rem .6rem; border-radius: .3rem; color: var(--page); }
.verdict.right { background: var(--right); } .verdict.wrong { background: var(--wrong); }
.verdict.none, .verdict.error { background: var(--none); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .45rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { color: var(--faint); font-weight: 600; } .num { text-align: right; }
td.wrong, td.unwritten, td.touched, td.unstable, td.slower { color: var(--wrong); font-weight: 600; }
td.exact, td.faster { color: var(--right); } td.allowed { color: var(--allowed); font-weight: 600; }
td.ambiguous { color: var(--none); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr max-content 1fr; gap: .15rem 1rem; margin: .6rem 0; }
@media (max-width: 46rem) { dl { grid-template-columns: max-content 1fr; } body { padding: .8rem; } }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .3rem; padding: .5rem .7rem; margin: .4rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
details { border: 1px solid var(--line); border-radius: .3rem; margin: .5rem 0; padding: .35rem .7rem; }
summary { cursor: pointer; overflow-wrap: anywhere; } p { margin: .4rem 0; } .faint { color: var(--faint); }
svg { width: 100%; height: auto; } svg text { font: 10px system-ui, sans-serif; fill: var(--faint); }
path { stroke-width: 8; fill: none; } .e { stroke: var(--e); } .a { stroke: var(--a); } .w { stroke: var(--w); }
.n { stroke: var(--n); } .u { stroke: var(--u); } .o { stroke: var(--o); }
line, polyline { fill: none; } .axis { stroke: var(--line); } .roof { stroke: var(--faint); stroke-width: 2; }
.p0 { fill: var(--p0); } .p1 { fill: var(--p1); } .p2 { fill: var(--p2); } .p3 { fill: var(--p3); }
.middle { text-anchor: middle; } .end { text-anchor: end; }
.key span { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 .9rem; vertical-align: -1px; }
)";

// Also of a comparison of times.
constexpr std::array<std::string_view, 9> kVerdicts = {"exact",    "allowed", "wrong",  "unwritten", "touched",
                                                       "unstable", "slower",  "faster", "ambiguous"};

bool IsVerdict(const std::string& text) {
  return std::find(kVerdicts.begin(), kVerdicts.end(), text) != kVerdicts.end();
}

// The verdict that colours a cell: its own text, or what its column counts if it is not 0; else nothing.
std::string VerdictOf(const std::string& column, const std::string& text) {
  if (IsVerdict(text)) return text;
  const bool fault = IsVerdict(column) && column != "exact" && column != "allowed";
  return fault && text.find_first_not_of("0") != std::string::npos ? column : "";
}

std::string Cell(const std::string& column, const std::string& text, bool number) {
  const std::string verdict = VerdictOf(column, text);
  std::string classes = number ? "num" : "";
  if (!verdict.empty()) classes += (number ? " " : "") + verdict;
  const std::string attribute = classes.empty() ? "" : " class=\"" + classes + "\"";
  return "<td" + attribute + ">" + MarkupText(text, 400) + "</td>";
}

}  // namespace

std::string HtmlPage(const std::string& title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
         "<title>" +
         MarkupText(title, 200) + "</title>\n<style>" + std::string(kStyle) + "</style>\n</head>\n<body>\n" + body +
         "</body>\n</html>\n";
}

std::string HtmlTable(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& lines,
                      std::size_t left) {
  std::string text = "<div class=\"scroll\"><table>\n<tr>";
  for (std::size_t i = 0; i < header.size(); ++i) {
    text += std::string(i < left ? "<th>" : "<th class=\"num\">") + MarkupText(header[i], 200) + "</th>";
  }
  text += "</tr>\n";
  for (const auto& cells : lines) {
    text += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) text += Cell(header[i], cells[i], i >= left);
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string HtmlFold(const std::string& summary, const std::string& body, bool open) {
  return std::string(open ? "<details open=\"open\">" : "<details>") + "<summary>" + MarkupText(summary, 600) +
         "</summary>\n" + body + "</details>\n";
}

}  // namespace kvexact
