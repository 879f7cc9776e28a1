// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kvexact {

// Path of kvexact-worker: $KVEXACT_WORKER, or the file of that name beside this program. Throws InputError with
// `source` if there is none.
std::string WorkerProgram(const std::string& source);

}  // namespace kvexact
