// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/progress.h"

#include <fmt/format.h>
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

Clock::duration Interval(bool terminal) { return terminal ? Clock::duration(kRedraw) : Clock::duration(kNextLine); }

}  // namespace

StatusLine::StatusLine(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), next_(Clock::now() + Interval(terminal_)) {}

void StatusLine::Finish() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void StatusLine::Show(const std::function<std::string()>& text) {
  if (quiet_ || Clock::now() < next_) return;
  next_ = Clock::now() + Interval(terminal_);
  std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", text().c_str());
  std::fflush(stderr);
  drawn_ = terminal_;
}

Progress::Progress(std::int64_t total, std::optional<Clock::time_point> deadline, bool quiet)
    : line_(quiet), total_(total), deadline_(deadline), start_(Clock::now()) {}

void Progress::Complain(const std::string& text) {
  line_.Finish();
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
  line_.Show([this] { return Text(); });
}

std::string Progress::Text() const {
  const double share = Share();
  std::string bar;
  if (line_.terminal()) {
    constexpr int kWidth = 30;
    const auto full = static_cast<int>(share * kWidth);
    bar = fmt::format("[{:#>{}}{:.>{}}] ", "", full, "", kWidth - full);
  }
  return fmt::format("{}{:3.0f}%  {} cases, {} failing, {:.0f} s", bar, 100 * share, done_, failed_,
                     Seconds(Clock::now() - start_).count());
}

}  // namespace kvexact::cli
