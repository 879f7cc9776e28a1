// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace kvexact::cli {

// How far a run is, on standard error: a bar that is drawn over on a terminal, a line every ten seconds elsewhere.
class Progress {
 public:
  // `total` cases, or as many as fit before `deadline`.
  Progress(std::int64_t total, std::optional<std::chrono::steady_clock::time_point> deadline, bool quiet);
  ~Progress() { Finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Advance(bool failed);
  // Clears the bar.
  void Finish();
  // One line, "kvexact: TEXT", quiet or not.
  void Complain(const std::string& text);

 private:
  double Share() const;
  void Draw();

  std::int64_t total_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::int64_t done_ = 0;
  std::int64_t failed_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace kvexact::cli
