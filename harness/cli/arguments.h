// SPDX-License-Identifier: Apache-2.0
// Options that several commands share, and how their texts are understood.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/judge/judge.h"
#include "harness/report/report.h"

namespace kvexact::cli {

// How outputs are judged.
struct JudgeArguments {
  std::string policy;  // empty: the subject's own
  std::string budget;  // empty: "default", or the declared one if that is accepted
  bool accept_declared_budget = false;

  void AddTo(CLI::App& command);
  // Throws InputError for names that do not exist.
  JudgeOptions OptionsFor(const BackendInfo& subject) const;
  // " --policy P --budget B", as far as they were given.
  std::string Text() const;
};

// How a foreign backend is run.
struct BackendArguments {
  BackendOptions options;

  void AddTo(CLI::App& command);
  // " --timeout N" where it is not the default.
  std::string Text() const;
};

// Files that a report is written to besides standard output; empty: none.
struct ReportFiles {
  std::string json;
  std::string junit;
  std::string markdown;
  std::string html;

  void AddTo(CLI::App& command);
  // Throws InputError for a file that cannot be written.
  void Write(const Report& report) const;
};

// Where results go, and how many threads work on them.
struct OutputArguments {
  ReportFiles files;
  bool quiet = false;
  int threads = 0;

  void AddTo(CLI::App& command);
};

// Writes the report's files, prints it and its line for scripts. Returns the exit status.
int Conclude(const Report& report, const ReportFiles& files);

// What the policy and budget that judge are called, and who is judged.
RunDescription Describe(const std::string& command, const BackendInfo& subject, const JudgeOptions& options);

// Recorded outputs are judged as a subject of this kind.
BackendInfo RecordedSubject();

// The operations of those names, all if there is none. Throws InputError.
std::vector<spec::Operation> OperationsNamed(const std::vector<std::string>& names);

// "N" or "random". Throws InputError.
std::uint64_t SeedOfText(const std::string& text);

// "90", "90s", "15m", "2h" as the value of `option`. Throws InputError.
std::chrono::steady_clock::duration DurationOfText(const std::string& option, const std::string& text);

// `text` as one word of a POSIX shell.
std::string ShellWord(const std::string& text);

}  // namespace kvexact::cli
