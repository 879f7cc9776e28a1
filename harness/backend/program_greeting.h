// SPDX-License-Identifier: Apache-2.0
// What a program says about itself in its first line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/backend/backend.h"

namespace kvexact {

// A restriction of one parameter (or of "op") to some values, each as the text that a case file would hold.
struct Restriction {
  std::string parameter;
  std::vector<std::string> values;
};
using Restrictions = std::vector<Restriction>;

struct ProgramGreeting {
  BackendInfo info{};
  std::vector<spec::Operation> operations;
  std::vector<Restrictions> configurations;  // empty: any

  // Why the program does not take the case; nothing if it does.
  std::optional<std::string> Refusal(const Case& c) const;
};

// A line of a program's standard output; nothing where it is no object, by the rules of ParseJson.
std::optional<nlohmann::ordered_json> ParseMessage(const std::string& line);

// {"protocol": 1, "operations": [...], "configurations": [{...}, ...], "name": ..., "version": ..., "device": ...,
// "policy": ..., "budget": ..., "bit_exact": ...}; protocol and operations are required. Throws InputError with
// `source`.
ProgramGreeting ParseGreeting(const std::string& line, const std::string& source);

}  // namespace kvexact
