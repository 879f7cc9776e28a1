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
#include "harness/run/case_source.h"

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

// Where results go besides standard output.
struct OutputArguments {
  std::string json;  // a file; empty: none
  bool quiet = false;
  int threads = 0;

  void AddTo(CLI::App& command);
};

// Prints the report and its line for scripts, writes the JSON file. Returns the exit status.
int Conclude(const Report& report, const OutputArguments& output);

// What the policy and budget that judge are called, and who is judged.
RunDescription Describe(const std::string& command, const BackendInfo& subject, const JudgeOptions& options);

// Recorded outputs are judged as a subject of this kind.
BackendInfo RecordedSubject();

// The operations of those names, all if there is none. Throws InputError.
std::vector<spec::Operation> OperationsNamed(const std::vector<std::string>& names);

// "N" or "random". Throws InputError.
std::uint64_t SeedOfText(const std::string& text);

// "90", "90s", "15m", "2h". Throws InputError.
std::chrono::steady_clock::duration DurationOfText(const std::string& text);

// "I/N" with 0 <= I < N. Throws InputError.
Shard ShardOfText(const std::string& text);

// `text` as one word of a POSIX shell.
std::string ShellWord(const std::string& text);

}  // namespace kvexact::cli
