// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>

#include "harness/case/case_file.h"
#include "harness/case/file_io.h"
#include "harness/cli/arguments.h"
#include "harness/cli/command.h"
#include "harness/cli/run_once.h"
#include "harness/generate/generate.h"
#include "harness/report/explanation.h"
#include "harness/report/html.h"

namespace kvexact::cli {
namespace {

constexpr std::size_t kDefaultColumns = 4;

struct ExplainArguments {
  std::string what;  // a file, or a spec
  std::int64_t token = 0;
  std::int64_t head = 0;
  std::string columns;
  bool recorded = false;
  std::string backend;
  std::string html;  // a file; empty: none
  JudgeArguments judge;
};

// "a..b", or "a" alone.
std::vector<int> ColumnsOfText(const std::string& text) {
  int bounds[2] = {0, 0};
  const std::size_t dots = text.find("..");
  const std::string_view parts[2] = {std::string_view(text).substr(0, dots),
                                     dots == std::string::npos ? text : std::string_view(text).substr(dots + 2)};
  for (int i = 0; i < 2; ++i) {
    const char* end = parts[i].data() + parts[i].size();
    const auto [rest, error] = std::from_chars(parts[i].data(), end, bounds[i]);
    if (error != std::errc() || rest != end || bounds[i] < 0 || bounds[i] >= kMaxHeadDim || bounds[0] > bounds[i]) {
      throw InputError("--columns", text, "must be a..b with 0 <= a <= b below the head's size");
    }
  }
  std::vector<int> columns;
  for (int column = bounds[0]; column <= bounds[1]; ++column) columns.push_back(column);
  return columns;
}

Case CaseOf(const std::string& what) {
  return what.starts_with("op=") ? Generate(ParseSpec(what)) : ReadCaseFile(what);
}

// What was stored: recorded, or by the backend; nothing if neither was asked for.
std::optional<TensorMap> OutputsOf(const ExplainArguments& a, const Case& c, Backend* backend) {
  if (backend != nullptr) return RunOnce(*backend, c);
  if (a.recorded && !c.outputs_after) throw InputError(a.what, "--recorded", "the file holds no recorded outputs");
  return a.recorded ? c.outputs_after : std::nullopt;
}

// Those asked for; else those at fault; else the first.
std::vector<int> ColumnsFor(const ExplainArguments& a, const Case& c, const JudgeOptions& options,
                            const std::optional<TensorMap>& outputs) {
  if (!a.columns.empty()) return ColumnsOfText(a.columns);
  std::vector<int> columns;
  if (outputs) {
    const CaseVerdict verdict = Judge(c, options, c.outputs_before, *outputs);
    columns = FaultyColumns(c, verdict, a.token, a.head, kDefaultColumns);
  }
  if (columns.empty()) columns = {0, 1, 2, 3};
  return columns;
}

int Explain(const ExplainArguments& a) {
  const Case c = CaseOf(a.what);
  const std::unique_ptr<Backend> backend = a.backend.empty() ? nullptr : OpenBackend(a.backend);
  const BackendInfo subject = backend ? backend->info() : RecordedSubject();
  const JudgeOptions options = a.judge.OptionsFor(subject);
  const std::optional<TensorMap> outputs = OutputsOf(a, c, backend.get());
  const ExplainRequest request{a.token, a.head, ColumnsFor(a, c, options, outputs)};
  const Explanation explanation = kvexact::Explain(c, options, request, outputs ? &*outputs : nullptr);
  const std::string heading = fmt::format("{}, token {}: policy {}, budget {}", c.row().name, a.token,
                                          options.policy->name, options.budget->name);
  if (!a.html.empty()) {
    const std::string stored =
        outputs ? "beside it: what " + subject.name + " stored" : "nothing that was stored beside it";
    ReplaceFile(a.html, ExplanationHtml(explanation, heading, {c.name, stored}));
  }
  std::printf("%s\n%s\n%s", Printable(c.name, 2000).c_str(), heading.c_str(), ExplanationText(explanation).c_str());
  return kRight;
}

}  // namespace

Command AddExplain(CLI::App& program) {
  const auto a = std::make_shared<ExplainArguments>();
  CLI::App* command = program.add_subcommand("explain", "one token through every stage, with what the budget admits");
  command->add_option("case", a->what, "a case file, or a spec as a report prints it")
      ->type_name("FILE|SPEC")
      ->required();
  command->add_option("--token", a->token, "index in the launch's arrays")->type_name("T")->required();
  command->add_option("--head", a->head, "head of Q")->type_name("H")->capture_default_str();
  command->add_option("--columns", a->columns, "columns of the head; default: those at fault, or the first four")
      ->type_name("a..b");
  CLI::Option* backend =
      command->add_option("--backend", a->backend, "show beside it what this backend stores")->type_name("B");
  command->add_flag("--recorded", a->recorded, "show beside it what the file recorded")->excludes(backend);
  command->add_option("--html", a->html, "write it as one self-contained page too")->type_name("FILE");
  a->judge.AddTo(*command);
  return {command, [a] { return Explain(*a); }};
}

}  // namespace kvexact::cli
