// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kvexact {

// The whole of `text` as JSON; throws InputError(source, "JSON", ...) where it is none, where a byte is zero, which
// some readers take for the end, where an object has a key twice, of which readers keep one or the other, or where it
// nests deeper than 32: the library recurses to copy and to print.
nlohmann::ordered_json ParseJson(const std::string& text, const std::string& source);

}  // namespace kvexact
