// SPDX-License-Identifier: Apache-2.0
// JUnit XML: suites of test cases.
#pragma once

#include <string>
#include <vector>

namespace kvexact {

// Names, messages and texts are plain text of any origin.
class JunitSuite {
 public:
  explicit JunitSuite(std::string name) : name_(std::move(name)) {}

  void Pass(const std::string& test) { Add(test, ""); }
  void Fail(const std::string& test, const std::string& type, const std::string& message, const std::string& text);
  void Skip(const std::string& test, const std::string& message);
  void Break(const std::string& test, const std::string& message);  // the input is at fault

  // `timestamp` is as ReportParts::started.
  std::string Text(const std::string& timestamp) const;
  int tests() const { return tests_; }
  int failures() const { return failures_; }
  int errors() const { return errors_; }
  int skipped() const { return skipped_; }

 private:
  void Add(const std::string& test, const std::string& body);

  std::string name_;
  std::string text_;
  int tests_ = 0;
  int failures_ = 0;
  int errors_ = 0;
  int skipped_ = 0;
};

// The whole document; suites without test cases are left out.
std::string JunitDocument(const std::vector<JunitSuite>& suites, const std::string& timestamp, double seconds);

}  // namespace kvexact
