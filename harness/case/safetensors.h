// SPDX-License-Identifier: Apache-2.0
// The safetensors container: an 8-byte little-endian length, a JSON header, and the tensors' bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/case/tensor.h"

namespace kvexact::safetensors {

// One tensor of a file: its bytes are data[begin, end).
struct Entry {
  DType dtype = DType::kU8;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct File {
  std::map<std::string, std::string> metadata;
  std::map<std::string, Entry> entries;
  std::span<const std::uint8_t> data;  // behind the header; borrowed from the parsed bytes
};

// Throws InputError(source, ...) unless the header is well formed and every byte of the data belongs
// to exactly one tensor, whose shape and type ask for exactly its bytes. Accepts the types of DType,
// at most 8 dimensions and a header of at most 1 MiB; names are unique. Copies no tensor bytes.
File Parse(std::span<const std::uint8_t> bytes, const std::string& source);

// What stands before the data is at most this long.
inline constexpr std::size_t kMaxFrontBytes = 8 + (std::size_t{1} << 20);

// All the checks of Parse for a file of `file_bytes` bytes, from its first kMaxFrontBytes (or all, if it has fewer)
// alone. `data` stays empty.
File ParseHeader(std::span<const std::uint8_t> front, std::uint64_t file_bytes, const std::string& source);

// The tensor's bytes, copied to aligned memory.
Tensor Load(const File& file, const Entry& entry);

// The same bytes for the same arguments: tensors by falling element size, then by name. Throws
// InputError(source, ...) if a name or a metadata string is not UTF-8.
std::vector<std::uint8_t> Serialize(const std::map<std::string, std::string>& metadata,
                                    const std::map<std::string, const Tensor*>& tensors, const std::string& source);

}  // namespace kvexact::safetensors
