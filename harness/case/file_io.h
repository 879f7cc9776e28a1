// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvexact {

// The whole of a regular file. Throws InputError(path, "file", ...) for anything else.
std::vector<std::uint8_t> ReadFile(const std::string& path);

// Writes beside `path` and renames, so that `path` is never seen half written. Throws InputError.
void ReplaceFile(const std::string& path, std::span<const std::uint8_t> bytes);
void ReplaceFile(const std::string& path, std::string_view text);

}  // namespace kvexact
