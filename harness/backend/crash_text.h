// SPDX-License-Identifier: Apache-2.0
// Wording that both kinds of foreign process share.
#pragma once

#include <string>

#include "harness/backend/backend.h"
#include "harness/backend/process/child_process.h"

namespace kvexact {

// When a wait that begins now ends.
Deadline DeadlineFor(const BackendOptions& options);

// "60 s"
std::string SecondsText(const BackendOptions& options);

// The text and the last lines that the process wrote to standard error.
std::string WithErrorTail(const std::string& text, ChildProcess& process);

}  // namespace kvexact
