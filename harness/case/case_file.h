// SPDX-License-Identifier: Apache-2.0
// Case files: safetensors in the schema "kvexact-case/1" (docs/case-format.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/case/case.h"

namespace kvexact {

// Reads and checks a case; its name is the stem of the file's name. Throws InputError naming the file
// and the field for anything that is not a well-formed, usable case; never reads outside `bytes` and
// never allocates more than its size asks for.
Case ReadCaseFile(const std::string& path);
Case ParseCase(std::span<const std::uint8_t> bytes, const std::string& source);

// Writes inputs, <output>_before and, where recorded, <output>_after. Throws InputError if the case
// does not pass Check or the file cannot be written; an existing file is replaced only once the new
// one is complete (a symbolic link is followed). Parsing the bytes gives the case again, and equal cases give equal
// bytes.
void WriteCaseFile(const std::string& path, const Case& c);
std::vector<std::uint8_t> SerializeCase(const Case& c);

}  // namespace kvexact
