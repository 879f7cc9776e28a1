// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "harness/generate/draw.h"
#include "property_tests/ports/port_options.h"

namespace kvexact::ports {

struct PortRun {
  std::int64_t cases = 0;
  std::int64_t elements = 0;
  std::int64_t allowed = 0;
  std::int64_t failing = 0;
  std::string first_failure;  // spec and counts; empty if there is none
};

// Cases [0, cases) of the settings, run by the port and judged under the budget that it declares.
PortRun JudgePort(const PortOptions& options, const DrawSettings& settings, std::int64_t cases, int threads);

}  // namespace kvexact::ports
