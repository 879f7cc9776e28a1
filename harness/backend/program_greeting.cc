// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/program_greeting.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "harness/case/schema.h"
#include "harness/case/strict_json.h"

namespace kvexact {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProtocol = 1;

std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(const std::string& value) { return value; }
template <class Number>
std::string Text(Number value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string ValueText(const Json& value, const std::string& source, const std::string& parameter) {
  if (value.is_boolean()) return Text(value.get<bool>());
  if (value.is_number_integer()) return Text(value.get<std::int64_t>());
  if (value.is_number()) return Text(value.get<double>());
  if (value.is_string()) return value.get<std::string>();
  throw InputError(source, "configurations", parameter + " has a value that is no number, text or truth value");
}

const schema::ParamRow* ParameterNamed(const std::string& name) {
  const auto rows = schema::ParamRows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return name == r.name; });
  return row == rows.end() ? nullptr : &*row;
}

Restrictions RestrictionsOf(const Json& object, const std::string& source) {
  if (!object.is_object()) throw InputError(source, "configurations", "must be a list of objects");
  Restrictions restrictions;
  for (const auto& [parameter, values] : object.items()) {
    if (parameter != "op" && ParameterNamed(parameter) == nullptr) {
      throw InputError(source, "configurations", "\"" + parameter + "\" is no parameter of a case");
    }
    Restriction restriction{parameter, {}};
    for (const Json& value : values.is_array() ? values : Json::array({values})) {
      restriction.values.push_back(ValueText(value, source, parameter));
    }
    restrictions.push_back(std::move(restriction));
  }
  return restrictions;
}

std::vector<spec::Operation> OperationsOf(const Json& hello, const std::string& source) {
  std::vector<spec::Operation> operations;
  const Json names = hello.value("operations", Json());
  if (!names.is_array()) throw InputError(source, "operations", "must be a list of names");
  for (const Json& name : names) {
    const auto op = name.is_string() ? schema::OperationNamed(name.get<std::string>()) : std::nullopt;
    if (!op) throw InputError(source, "operations", name.dump() + " is no operation");
    operations.push_back(*op);
  }
  return operations;
}

std::string TextOf(const Json& hello, const char* key, const std::string& otherwise, const std::string& source) {
  const Json value = hello.value(key, Json());
  if (value.is_null()) return otherwise;
  if (!value.is_string()) throw InputError(source, key, "must be text");
  return value.get<std::string>();
}

bool FlagOf(const Json& hello, const char* key, const std::string& source) {
  const Json value = hello.value(key, Json(false));
  if (!value.is_boolean()) throw InputError(source, key, "must be true or false");
  return value.get<bool>();
}

// The case's value of a parameter; a parameter that the operation does not have keeps its default.
std::string ValueOf(const Case& c, const std::string& parameter) {
  if (parameter == "op") return c.row().name;
  return std::visit([&](const auto field) { return Text(c.params.*field); }, ParameterNamed(parameter)->field);
}

// The first restriction that the case does not meet.
std::optional<std::string> Unmet(const Restrictions& restrictions, const Case& c) {
  for (const Restriction& r : restrictions) {
    const std::string value = ValueOf(c, r.parameter);
    if (std::find(r.values.begin(), r.values.end(), value) == r.values.end()) return r.parameter + "=" + value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ProgramGreeting::Refusal(const Case& c) const {
  if (std::find(operations.begin(), operations.end(), c.op) == operations.end()) {
    return std::string("does not do ") + c.row().name;
  }
  std::optional<std::string> unmet;
  for (const Restrictions& configuration : configurations) {
    const std::optional<std::string> why = Unmet(configuration, c);
    if (!why) return std::nullopt;
    if (!unmet || !why->starts_with("op=")) unmet = why;
  }
  if (!unmet) return std::nullopt;
  return std::string(c.row().name) + " is not done with " + *unmet;
}

std::optional<Json> ParseMessage(const std::string& line) {
  try {
    const Json message = ParseJson(line, "");
    if (message.is_object()) return message;
  } catch (const InputError&) {
    // What is wrong with it is plain from the line itself.
  }
  return std::nullopt;
}

ProgramGreeting ParseGreeting(const std::string& line, const std::string& source) {
  const std::optional<Json> message = ParseMessage(line);
  if (!message) {
    throw InputError(
        source, "hello",
        "the first line on standard output must be a JSON object, and is \"" + Printable(line, 200) + "\"");
  }
  const Json& hello = *message;
  if (hello.value("protocol", Json()) != Json(kProtocol)) {
    throw InputError(source, "protocol", "is " + hello.value("protocol", Json()).dump() + ", must be 1");
  }
  ProgramGreeting greeting;
  greeting.operations = OperationsOf(hello, source);
  const Json configurations = hello.value("configurations", Json());
  if (!configurations.is_null() && !configurations.is_array()) {
    throw InputError(source, "configurations", "must be a list of objects");
  }
  for (const Json& configuration : configurations) {
    greeting.configurations.push_back(RestrictionsOf(configuration, source));
  }
  BackendInfo& info = greeting.info;
  info.name = TextOf(hello, "name", "program", source);
  info.version = TextOf(hello, "version", "", source);
  info.device = TextOf(hello, "device", "", source);
  info.policy = TextOf(hello, "policy", "poisoned", source);
  info.budget = TextOf(hello, "budget", "", source);
  info.bit_exact = FlagOf(hello, "bit_exact", source);
  return greeting;
}

}  // namespace kvexact
