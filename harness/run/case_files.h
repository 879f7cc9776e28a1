// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kvexact {

// Files as they are; of a directory its *.safetensors, sorted by name (not those of its subdirectories). Throws
// InputError for a path that does not exist.
std::vector<std::string> CaseFilesOf(const std::vector<std::string>& paths);

}  // namespace kvexact
