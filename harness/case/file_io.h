// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvexact {

// The whole of a regular file. Throws InputError(path, "file", ...) for anything else.
std::vector<std::uint8_t> ReadFile(const std::string& path);

// The first bytes of a regular file, at most `most`, and the size of the whole. Throws as ReadFile.
struct FileFront {
  std::vector<std::uint8_t> bytes;
  std::uint64_t file_bytes;
};
FileFront ReadFront(const std::string& path, std::size_t most);

// Writes beside `path` and renames, so that a file is never seen half written. What is there and is no file of its own
// (a device, a pipe, a symbolic link such as /dev/stdout) stays and is written to. Throws InputError.
void ReplaceFile(const std::string& path, std::span<const std::uint8_t> bytes);
void ReplaceFile(const std::string& path, std::string_view text);

}  // namespace kvexact
