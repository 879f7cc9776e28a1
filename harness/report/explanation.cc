// SPDX-License-Identifier: Apache-2.0
#include "harness/report/explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/explain_compress.h"
#include "harness/report/explain_indexer_q.h"
#include "harness/report/table_text.h"

namespace kvexact {
namespace {

void CheckRequest(const Case& c, const ExplainRequest& request) {
  const std::int64_t tokens = c.inputs.at("positions").dim(0);
  if (request.token < 0 || request.token >= tokens) {
    throw InputError(c.name, "token", fmt::format("{} is none of the {} tokens", request.token, tokens));
  }
  const bool q = c.row().family == spec::Family::kIndexerQ;
  const std::int64_t heads = q ? c.inputs.at("index_q").dim(1) : 1;
  if (request.head < 0 || request.head >= heads) {
    throw InputError(c.name, "head", fmt::format("{} is none of the {} heads", request.head, heads));
  }
  for (const int column : request.columns) {
    if (column >= 0 && column < c.params.head_dim) continue;
    throw InputError(c.name, "columns", fmt::format("{} is none of the {} columns", column, c.params.head_dim));
  }
}

// Column of the head that an element belongs to; -1 if it belongs to none.
int ColumnOf(const Case& c, const Problem& problem) {
  const spec::Layout* layout = c.row().layout;
  switch (problem.kind) {
    case ElementKind::kCode:
    case ElementKind::kFp32:
      return static_cast<int>(problem.element);
    case ElementKind::kBf16:
      return layout->code_values + static_cast<int>(problem.element);
    case ElementKind::kScale: {
      const std::int64_t block = layout != nullptr ? layout->quant_block : 32;
      const std::int64_t column = problem.element * block;
      return column < c.params.head_dim ? static_cast<int>(column) : -1;
    }
    case ElementKind::kWeight:
      return -1;
  }
  return -1;
}

}  // namespace

Explanation Explain(const Case& c, const JudgeOptions& options, const ExplainRequest& request,
                    const TensorMap* outputs) {
  CheckRequest(c, request);
  Explanation out;
  if (c.row().family == spec::Family::kIndexerQ) {
    explain::ExplainIndexerQ(c, options, request, outputs, out);
  } else {
    explain::ExplainCompress(c, options, request, outputs, out);
  }
  return out;
}

std::vector<int> FaultyColumns(const Case& c, const CaseVerdict& verdict, std::int64_t token, std::int64_t head,
                               std::size_t most) {
  std::vector<int> columns;
  for (const Problem& problem : verdict.problems) {
    const bool here = problem.token == token && (problem.head < 0 || problem.head == head);
    const int column = here ? ColumnOf(c, problem) : -1;
    if (column >= 0) columns.push_back(column);
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  columns.resize(std::min(columns.size(), most));
  return columns;
}

std::string ExplanationText(const Explanation& explanation) {
  std::string text;
  for (const std::string& fact : explanation.facts) text += fact + "\n";
  for (const ExplanationTable& table : explanation.tables) {
    std::vector<std::vector<std::string>> lines = {table.header};
    lines.insert(lines.end(), table.lines.begin(), table.lines.end());
    text.append("\n").append(table.title).append("\n").append(TableText(lines, 0));
  }
  return text;
}

}  // namespace kvexact
