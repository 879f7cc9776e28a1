// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvexact {

// Input that cannot be used: names the file (or spec), the field, and what is wrong with it.
// what() is one printable line, "SOURCE: FIELD: WHAT", whatever bytes the input held.
class InputError : public std::runtime_error {
 public:
  InputError(std::string source, std::string field, const std::string& what);
  const std::string& source() const { return source_; }
  const std::string& field() const { return field_; }

 private:
  std::string source_;
  std::string field_;
};

// `text` with control bytes and bytes above 0x7E as \xNN, cut to `limit` characters with "...".
std::string Printable(std::string_view text, std::size_t limit);

}  // namespace kvexact
