// SPDX-License-Identifier: Apache-2.0
#include "harness/report/failure_map.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>

#include "harness/backend/backend.h"
#include "harness/case/input_error.h"
#include "harness/judge/written_bytes.h"
#include "harness/run/element_sites.h"

namespace kvexact {
namespace {

constexpr std::string_view kLetters = "eawnuo";
constexpr std::size_t kMostRowElements = 1024;  // of a token (of Q: of one head of it), and more than any has

// An element's place, as a problem and a site both name it.
using Place = std::tuple<std::int64_t, std::int64_t, ElementKind, std::int64_t>;  // token, head, kind, element

char LetterOf(Problem::What what) {
  switch (what) {
    case Problem::What::kWrong:
      return 'w';
    case Problem::What::kUnwritten:
      return 'n';
    case Problem::What::kUnstable:
      return 'u';
    case Problem::What::kTouched:
      break;
  }
  return 'e';
}

std::map<Place, char> LettersOf(const std::vector<Problem>& judged, const std::vector<Problem>& of_runs) {
  std::map<Place, char> letters;
  for (const std::vector<Problem>* problems : {&judged, &of_runs}) {
    for (const Problem& p : *problems) {
      if (p.what != Problem::What::kTouched)
        letters.emplace(Place{p.token, p.head, p.kind, p.element}, LetterOf(p.what));
    }
  }
  return letters;
}

TensorMap StrictOutputs(const Evidence& evidence) {
  TensorMap outputs = evidence.before;
  MakeReferenceBackend()->Run(evidence.c, outputs);
  return outputs;
}

void AddTouched(const Evidence& evidence, const Stages& stages, FailureMap& map) {
  CaseVerdict outside;
  outside.max_problems = FailureMap::kMaxRanges;
  CheckUntouched(WrittenBytes(evidence.c, stages), evidence.before, evidence.after, outside);
  for (const Problem& p : outside.problems) {
    const auto buffer = evidence.after.find(p.buffer);
    const std::uint8_t* before = evidence.before.find(p.buffer)->second.bytes();
    const std::uint8_t* after = buffer->second.bytes();
    std::int64_t end = p.byte_offset;
    while (end < buffer->second.size_bytes() && before[end] != after[end]) ++end;
    map.touched.push_back({p.buffer, p.byte_offset, end});
  }
  map.more_touched_ranges = outside.touched_ranges - static_cast<std::int64_t>(map.touched.size());
}

class RowCollector {
 public:
  explicit RowCollector(FailureMap& map) : map_(map) {}

  // Whether the map has as many rows as it shows.
  bool full() const { return map_.rows.size() >= FailureMap::kMaxRows; }
  std::int64_t rows() const { return rows_; }

  // The next row, which may be the last one's, begins here.
  void Begin(const ElementSite& site) {
    if (site.token == row_.token && site.head == row_.head) return;
    Finish();
    row_ = {site.token, site.head, ""};
    ++rows_;
  }

  void Add(ElementKind kind, char letter) {
    if (map_.rows.empty()) AddToSections(kind);
    row_.cells += letter;
  }

  // The row is complete. Sections are those of every row, and are known once one is kept.
  void Finish() {
    if (row_.cells.find_first_of("wnu") != std::string::npos) map_.rows.push_back(std::move(row_));
    if (map_.rows.empty()) map_.sections.clear();
    row_.cells.clear();
  }

 private:
  void AddToSections(ElementKind kind) {
    if (map_.sections.empty() || map_.sections.back().kind != kind) map_.sections.push_back({kind, 0});
    ++map_.sections.back().elements;
  }

  FailureMap& map_;
  MapRow row_{-1, -1, ""};
  std::int64_t rows_ = 0;
};

}  // namespace

FailureMap MapOf(const Evidence& evidence, const JudgeOptions& options, const CaseResult& result) {
  JudgeOptions shown = options;
  shown.max_problems = FailureMap::kMaxRows * kMostRowElements;
  const CaseVerdict verdict = Judge(evidence.c, shown, evidence.before, evidence.after);
  const std::map<Place, char> letters = LettersOf(verdict.problems, result.verdict.problems);
  const TensorMap strict = StrictOutputs(evidence);

  FailureMap map;
  RowCollector rows(map);
  ForEachElement(evidence.c, *options.stages, [&](const ElementSite& site) {
    rows.Begin(site);
    if (rows.full()) return;
    const auto found = letters.find({site.token, site.head, site.kind, site.element});
    char letter = 'o';
    if (found != letters.end()) {
      letter = found->second;
    } else if (!std::binary_search(verdict.open.begin(), verdict.open.end(), OpenToken{site.token, site.head})) {
      letter = SameValue(site, site.Load(strict), site.Load(evidence.after)) ? 'e' : 'a';
    }
    rows.Add(site.kind, letter);
  });
  rows.Finish();
  const auto shown_rows = static_cast<std::int64_t>(map.rows.size());
  map.more_wrong_rows = std::max(verdict.wrong_rows - shown_rows, std::int64_t{0});
  map.right_rows = rows.rows() - shown_rows - map.more_wrong_rows;
  AddTouched(evidence, *options.stages, map);
  return map;
}

std::string RunsOf(const std::string& cells) {
  std::string runs;
  for (std::size_t i = 0; i < cells.size();) {
    const std::size_t end = std::min(cells.find_first_not_of(cells[i], i), cells.size());
    runs += std::to_string(end - i) + cells[i];
    i = end;
  }
  return runs;
}

std::string CellsOf(const std::string& runs) {
  std::string cells;
  const char* at = runs.data();
  const char* const end = at + runs.size();
  while (at != end) {
    std::int64_t count = 0;
    const auto [rest, error] = std::from_chars(at, end, count);
    const bool usable = error == std::errc() && rest != end && kLetters.find(*rest) != std::string_view::npos &&
                        count > 0 && count <= kMaxCells - static_cast<std::int64_t>(cells.size());
    if (!usable) throw InputError("map", "cells", "are no runs such as 448e7w: " + runs);
    cells.append(static_cast<std::size_t>(count), *rest);
    at = rest + 1;
  }
  return cells;
}

}  // namespace kvexact
