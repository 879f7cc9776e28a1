// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kvexact {

// The time as "2026-01-31T12:00:00Z".
std::string UtcNow();

}  // namespace kvexact
