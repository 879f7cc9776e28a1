// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <limits>
#include <random>
#include <string_view>

#include "harness/case/file_io.h"
#include "harness/case/schema.h"
#include "harness/report/html.h"
#include "harness/report/json.h"
#include "harness/report/junit.h"
#include "harness/report/report_markdown.h"
#include "harness/report/text.h"

namespace kvexact::cli {
namespace {

template <class Rows>
std::string NamesOf(const Rows& rows) {
  std::string names;
  for (const auto& row : rows) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

// The whole text as a number, or nothing.
template <class Number>
std::optional<Number> NumberOf(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// CLI::Range would let NaN pass.
std::string SecondsError(const std::string& text) {
  const std::optional<double> seconds = NumberOf<double>(text);
  const bool usable = seconds && *seconds >= 0.001 && *seconds <= 1e6;
  return usable ? "" : text + " must be seconds from 0.001 to 1000000";
}

}  // namespace

void JudgeArguments::AddTo(CLI::App& command) {
  command
      .add_option("--policy", policy,
                  "what NaN, infinities and overflow should store (kvexact list policies); "
                  "default: the subject's own")
      ->type_name("P");
  command.add_option("--budget", budget, "how far an implementation may differ (kvexact list budgets)")
      ->type_name("B")
      ->default_str("default");
  command.add_flag("--accept-declared-budget", accept_declared_budget,
                   "judge by the looser budget that the backend declares for itself");
}

JudgeOptions JudgeArguments::OptionsFor(const BackendInfo& subject) const {
  JudgeOptions options;
  const std::string& policy_name = policy.empty() ? subject.policy : policy;
  options.policy = FindPolicy(policy_name);
  if (options.policy == nullptr) {
    throw InputError(policy.empty() ? subject.name : "--policy", policy_name,
                     "is no policy; there are " + NamesOf(Policies()));
  }
  const bool declared = budget.empty() && accept_declared_budget && !subject.budget.empty();
  const std::string& budget_name = declared ? subject.budget : budget;
  options.budget = budget_name.empty() ? &DefaultBudget() : FindBudget(budget_name);
  if (options.budget == nullptr) {
    throw InputError(declared ? subject.name : "--budget", budget_name,
                     "is no budget; there are " + NamesOf(Budgets()));
  }
  return options;
}

std::string JudgeArguments::Text() const {
  std::string text;
  if (!policy.empty()) text += " --policy " + ShellWord(policy);
  if (!budget.empty()) text += " --budget " + ShellWord(budget);
  if (accept_declared_budget) text += " --accept-declared-budget";
  return text;
}

void BackendArguments::AddTo(CLI::App& command) {
  command
      .add_option("--timeout", options.timeout_seconds,
                  "seconds after which a foreign backend that does not answer is ended")
      ->type_name("N")
      ->capture_default_str()
      ->check(SecondsError);
}

std::string BackendArguments::Text() const {
  const double timeout = options.timeout_seconds;
  return timeout == BackendOptions().timeout_seconds ? "" : fmt::format(" --timeout {}", timeout);
}

void ReportFiles::AddTo(CLI::App& command) {
  command.add_option("--json", json, "write the report to this file (docs/report-schema.md)")->type_name("FILE");
  command.add_option("--junit", junit, "write it as JUnit XML, for a CI's list of tests")->type_name("FILE");
  command.add_option("--markdown", markdown, "write it as Markdown, for a CI job's summary page")->type_name("FILE");
  command.add_option("--html", html, "write it as one self-contained page")->type_name("FILE");
}

void ReportFiles::Write(const Report& report) const {
  using Printer = std::string (*)(const Report&);
  const std::pair<const std::string&, Printer> printers[] = {
      {json, ReportJson}, {junit, ReportJunit}, {markdown, ReportMarkdown}, {html, ReportHtml}};
  for (const auto& [file, print] : printers) {
    if (!file.empty()) ReplaceFile(file, print(report));
  }
}

void OutputArguments::AddTo(CLI::App& command) {
  files.AddTo(command);
  command.add_flag("--quiet", quiet, "no progress on standard error");
  command.add_option("--threads", threads, "threads that generate and judge; default: one a core")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
}

int Conclude(const Report& report, const ReportFiles& files) {
  files.Write(report);
  std::printf("%s%s\n", ReportText(report).c_str(), SummaryLine(report).c_str());
  return report.exit_status();
}

RunDescription Describe(const std::string& command, const BackendInfo& subject, const JudgeOptions& options) {
  RunDescription description;
  description.command = command;
  description.subject = subject.name;
  description.version = subject.version;
  description.device = subject.device;
  description.policy = options.policy->name;
  description.budget = options.budget->name;
  return description;
}

BackendInfo RecordedSubject() { return {"recorded", "", "", SeedPolicy().name, false}; }

std::vector<spec::Operation> OperationsNamed(const std::vector<std::string>& names) {
  std::vector<spec::Operation> operations;
  for (const std::string& name : names) {
    const std::optional<spec::Operation> op = schema::OperationNamed(name);
    if (!op) throw InputError("--op", name, "is no operation; there are " + NamesOf(spec::kOperations));
    operations.push_back(*op);
  }
  if (names.empty()) {
    for (const spec::OperationRow& row : spec::kOperations) operations.push_back(row.id);
  }
  return operations;
}

std::uint64_t SeedOfText(const std::string& text) {
  if (text == "random") {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }
  const std::optional<std::uint64_t> seed = NumberOf<std::uint64_t>(text);
  if (!seed) throw InputError("--seed", text, "must be a number from 0 to 2^64 - 1, or random");
  return *seed;
}

std::chrono::steady_clock::duration DurationOfText(const std::string& option, const std::string& text) {
  std::string_view digits = text;
  std::int64_t unit = 1;
  if (!digits.empty()) {
    const char last = digits.back();
    unit = last == 'm' ? 60 : last == 'h' ? 3600 : 1;
    if (last == 's' || last == 'm' || last == 'h') digits.remove_suffix(1);
  }
  constexpr std::int64_t kMostSeconds = 366 * 86400;
  const std::optional<std::int64_t> count = NumberOf<std::int64_t>(digits);
  if (!count || *count < 1 || *count > kMostSeconds / unit) {
    throw InputError(option, text, "must be a time such as 90, 90s, 15m or 2h");
  }
  return std::chrono::seconds(*count * unit);
}

std::string ShellWord(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace kvexact::cli
