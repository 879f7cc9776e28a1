// SPDX-License-Identifier: Apache-2.0
// A backend that is a program: it reads case files, writes result files, and answers in lines of JSON
// (docs/backends.md).
#pragma once

#include <memory>
#include <string>

#include "harness/backend/backend.h"

namespace kvexact {

// Starts `command` through /bin/sh and reads its greeting. Throws InputError (source "exec:CMD") where it does not
// start, ends, hangs or greets wrongly.
//
// Run: the end of the program or no answer within the time-out is kCrashed; an answer that is no answer (other text on
// standard output, malformed JSON, another request's id, an unknown status, a result file that is missing, unreadable
// or does not hold exactly the outputs) is kError. The program is ended, and started anew for the next Run, unless its
// answer was well formed.
std::unique_ptr<Backend> OpenProgramBackend(const std::string& command, const BackendOptions& options = {});

}  // namespace kvexact
