// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/crash_text.h"

#include <sstream>

namespace kvexact {

Deadline DeadlineFor(const BackendOptions& options) {
  const std::chrono::duration<double> wait(options.timeout_seconds);
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(wait);
}

std::string SecondsText(const BackendOptions& options) {
  std::ostringstream text;
  text << options.timeout_seconds << " s";
  return text.str();
}

std::string WithErrorTail(const std::string& text, ChildProcess& process) {
  constexpr std::size_t kLines = 6;
  const std::string errors = process.ErrorTail(kLines);
  return errors.empty() ? text : text + "; its output ended: " + errors;
}

}  // namespace kvexact
