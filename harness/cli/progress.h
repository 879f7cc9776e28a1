// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace kvexact::cli {

// A line on standard error: drawn over on a terminal, a new one every ten seconds elsewhere.
class StatusLine {
 public:
  explicit StatusLine(bool quiet);
  ~StatusLine() { Finish(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Shows what `text` gives, if it is time to.
  void Show(const std::function<std::string()>& text);
  bool terminal() const { return terminal_; }
  // Clears the line.
  void Finish();

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

// How far a run is: a bar on a terminal.
class Progress {
 public:
  // `total` cases, or as many as fit before `deadline`.
  Progress(std::int64_t total, std::optional<std::chrono::steady_clock::time_point> deadline, bool quiet);

  void Advance(bool failed);
  void Finish() { line_.Finish(); }
  // One line, "kvexact: TEXT", quiet or not.
  void Complain(const std::string& text);

 private:
  double Share() const;
  std::string Text() const;

  StatusLine line_;
  std::int64_t total_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::int64_t done_ = 0;
  std::int64_t failed_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace kvexact::cli
