// SPDX-License-Identifier: Apache-2.0
// A command of the program: its options, which CLI11 parses and prints as help, and what it does.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace kvexact::cli {

// Exit statuses (README).
enum ExitStatus : int {
  kRight = 0,
  kSubjectAtFault = 1,
  kBadInput = 2,  // bad usage or unreadable input
  kNothingJudged = 3,
  kHarnessFailed = 4,
  kSlower = 5,     // bench --against
  kAmbiguous = 6,  // bench --against
};

struct Command {
  CLI::App* app;
  std::function<int()> run;  // after parsing; throws InputError for options and files that cannot be used
};

Command AddList(CLI::App& program);
Command AddGen(CLI::App& program);
Command AddVerify(CLI::App& program);
Command AddReplay(CLI::App& program);
Command AddSelftest(CLI::App& program);
Command AddExplain(CLI::App& program);
Command AddFaults(CLI::App& program);
Command AddDiagnose(CLI::App& program);
Command AddReport(CLI::App& program);
Command AddBench(CLI::App& program);

}  // namespace kvexact::cli
