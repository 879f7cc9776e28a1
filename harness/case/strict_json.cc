// SPDX-License-Identifier: Apache-2.0
#include "harness/case/strict_json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "harness/case/input_error.h"

namespace kvexact {

nlohmann::ordered_json ParseJson(const std::string& text, const std::string& source) {
  using Json = nlohmann::ordered_json;
  if (text.find('\0') != std::string::npos) throw InputError(source, "JSON", "holds a zero byte");
  std::vector<std::set<std::string>> open;  // keys of the objects around
  constexpr int kDeepest = 32;
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepest) throw InputError(source, "JSON", "nests deeper than " + std::to_string(kDeepest));
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second) {
      throw InputError(source, "JSON", "has the key " + parsed.get<std::string>() + " twice in one object");
    }
    return true;
  };
  Json json = Json::parse(text, check, false);
  if (json.is_discarded()) throw InputError(source, "JSON", "cannot be parsed");
  return json;
}

}  // namespace kvexact
