// SPDX-License-Identifier: Apache-2.0
#include "harness/case/case_file.h"

#include "harness/case/file_io.h"

namespace kvexact {

Case ReadCaseFile(const std::string& path) { return ParseCase(ReadFile(path), path); }

void WriteCaseFile(const std::string& path, const Case& c) { ReplaceFile(path, SerializeCase(c)); }

}  // namespace kvexact
