// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kvexact::cli {

// Directory of the recorded cases: `given`, or else $KVEXACT_GOLDEN, or else what was installed beside the program, or
// else the source tree that it was built from. Throws InputError if that is no directory.
std::string RecordedCasesDirectory(const std::string& given);

}  // namespace kvexact::cli
