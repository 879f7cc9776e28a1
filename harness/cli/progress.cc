// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace kvexact::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::chrono::milliseconds kRedraw(100);
constexpr std::chrono::seconds kNextLine(10);

}  // namespace

Progress::Progress(std::int64_t total, std::optional<Clock::time_point> deadline, bool quiet)
    : total_(total),
      deadline_(deadline),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_(start_ + (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kNextLine))) {}

void Progress::Finish() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void Progress::Complain(const std::string& text) {
  Finish();
  std::fprintf(stderr, "kvexact: %s\n", text.c_str());
}

double Progress::Share() const {
  double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 1.0;
  if (deadline_) share = std::max(share, Seconds(Clock::now() - start_) / Seconds(*deadline_ - start_));
  return std::min(share, 1.0);
}

void Progress::Advance(bool failed) {
  ++done_;
  if (failed) ++failed_;
  if (quiet_ || Clock::now() < next_) return;
  next_ = Clock::now() + (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kNextLine));
  Draw();
}

void Progress::Draw() {
  const double seconds = Seconds(Clock::now() - start_).count();
  const double share = Share();
  if (!terminal_) {
    std::fprintf(stderr, "%3.0f%%  %lld cases, %lld failing, %.0f s\n", 100 * share, static_cast<long long>(done_),
                 static_cast<long long>(failed_), seconds);
    return;
  }
  constexpr int kWidth = 30;
  const auto full = static_cast<int>(share * kWidth);
  const std::string bar =
      std::string(static_cast<std::size_t>(full), '#') + std::string(static_cast<std::size_t>(kWidth - full), '.');
  std::fprintf(stderr, "\r\033[K[%s] %3.0f%%  %lld cases, %lld failing, %.0f s", bar.c_str(), 100 * share,
               static_cast<long long>(done_), static_cast<long long>(failed_), seconds);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace kvexact::cli
