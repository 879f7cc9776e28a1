// SPDX-License-Identifier: Apache-2.0
#include "harness/report/utc_now.h"

#include <chrono>
#include <ctime>

namespace kvexact {

std::string UtcNow() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

}  // namespace kvexact
