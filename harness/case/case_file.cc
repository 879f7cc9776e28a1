// SPDX-License-Identifier: Apache-2.0
#include "harness/case/case_file.h"

#include "harness/case/file_io.h"
#include "harness/case/safetensors.h"

namespace kvexact {

Case ReadCaseFile(const std::string& path) {
  // A file that is not what its header says is refused before its data is read, however large it is.
  const FileFront front = ReadFront(path, safetensors::kMaxFrontBytes);
  safetensors::ParseHeader(front.bytes, front.file_bytes, path);
  return ParseCase(ReadFile(path), path);
}

void WriteCaseFile(const std::string& path, const Case& c) { ReplaceFile(path, SerializeCase(c)); }

}  // namespace kvexact
