// SPDX-License-Identifier: Apache-2.0
// Runs the built command line program.
#pragma once

#include <string>
#include <vector>

namespace kvexact {

struct ProgramResult {
  int status = -1;  // exit status; 128 + N after signal N
  std::string out;
  std::string err;

  std::vector<std::string> out_lines() const;
  std::vector<std::string> err_lines() const;
  std::string last_line() const;  // of standard output
};

// `kvexact ARGUMENTS...` with standard input closed, variables added to the environment as "NAME=VALUE".
ProgramResult RunProgram(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

// A command line for /bin/sh, in which the word kvexact at the front stands for the program.
ProgramResult RunShell(const std::string& command);

// The value of "key=" in a line for scripts; empty if it is not there.
std::string ValueOf(const std::string& line, const std::string& key);

}  // namespace kvexact
