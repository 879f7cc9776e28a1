// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "harness/generate/case_spec.h"
#include "harness/generate/spec_fields.h"

namespace kvexact {
namespace {

constexpr char kNoRequests[] = "none";

template <class T>
std::string NumberText(T value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(std::int64_t value) { return NumberText(value); }
std::string Text(std::uint64_t value) { return NumberText(value); }
std::string Text(double value) { return NumberText(value); }
std::string Text(const std::string& value) { return value; }
std::string Text(const std::vector<RequestRun>& runs) {
  if (runs.empty()) return kNoRequests;
  std::string text;
  for (const RequestRun& run : runs) {
    if (!text.empty()) text += ',';
    text.append(NumberText(run.start)).append(1, '+').append(NumberText(run.length));
    if (run.count != 1) text.append(1, 'x').append(NumberText(run.count));
  }
  return text;
}
template <class Kind>
requires std::is_enum_v<Kind> std::string Text(Kind kind) { return std::string(generate::NameOf(kind)); }

// Parse: false unless `text` is exactly one value.
template <class T>
bool ParseNumber(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}
bool Parse(std::string_view text, std::int64_t& value) { return ParseNumber(text, value); }
bool Parse(std::string_view text, std::uint64_t& value) { return ParseNumber(text, value); }
bool Parse(std::string_view text, double& value) { return ParseNumber(text, value); }
bool Parse(std::string_view text, bool& value) {
  value = text == "true";
  return value || text == "false";
}
bool Parse(std::string_view text, std::string& value) {
  value = text;
  return true;
}

// Cuts `text` at the first `separator`; the part behind it is missing if there is none.
std::pair<std::string_view, std::optional<std::string_view>> Cut(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, at), text.substr(at + 1)};
}

bool Parse(std::string_view text, RequestRun& run) {
  const auto [start, rest] = Cut(text, '+');
  if (!rest) return false;
  const auto [length, count] = Cut(*rest, 'x');
  return Parse(start, run.start) && Parse(length, run.length) && (!count || Parse(*count, run.count));
}
bool Parse(std::string_view text, std::vector<RequestRun>& runs) {
  runs.clear();
  if (text == kNoRequests) return true;
  std::optional<std::string_view> rest = text;
  while (rest) {
    const auto [first, tail] = Cut(*rest, ',');
    if (!Parse(first, runs.emplace_back())) return false;
    rest = tail;
  }
  return true;
}
template <class Kind>
requires std::is_enum_v<Kind>
bool Parse(std::string_view text, Kind& kind) {
  const auto& names = generate::NamesOf(kind);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != text) continue;
    kind = static_cast<Kind>(i);
    return true;
  }
  return false;
}

// Appends " key=value" where a setting differs from the default.
struct AppendIfUnusual {
  std::string& text;
  template <class Field>
  void operator()(const char* key, schema::Bits, const Field& field, const Field& usual) const {
    if (!(field == usual)) text.append(1, ' ').append(key).append(1, '=').append(Text(field));
  }
};

std::string OpText(spec::Operation op) { return std::string("op=") + spec::row(op).name; }

std::vector<std::pair<std::string, std::string>> Split(std::string_view text, const std::string& source) {
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<std::string_view> rest = text;
  while (rest) {
    const auto [word, tail] = Cut(*rest, ' ');
    rest = tail;
    if (word.empty()) continue;
    const auto [key, value] = Cut(word, '=');
    if (!value) throw InputError(source, std::string(key), "is not of the form KEY=VALUE");
    for (const auto& [other, unused] : settings) {
      if (other == key) throw InputError(source, other, "appears twice");
    }
    settings.emplace_back(key, *value);
  }
  return settings;
}

}  // namespace

std::string ToText(const CaseSpec& spec) {
  std::string text = OpText(spec.config.op);
  const CaseSpec usual = DefaultSpec(spec.config.op);
  generate::ForEachSetting(AppendIfUnusual{text}, spec, usual);
  return text;
}

std::string ToText(const Configuration& config) {
  std::string text = OpText(config.op);
  const Configuration usual = DefaultSpec(config.op).config;
  generate::ForEachConfigSetting(AppendIfUnusual{text}, config, usual);
  return text;
}

CaseSpec ParseSpec(std::string_view text) {
  const std::string source(text);
  const auto settings = Split(text, source);
  std::optional<CaseSpec> spec;
  for (const auto& [key, value] : settings) {
    if (key != "op") continue;
    const std::optional<spec::Operation> op = schema::OperationNamed(value);
    if (!op) throw InputError(source, "op", "\"" + value + "\" is no known operation");
    spec = DefaultSpec(*op);
  }
  if (!spec) throw InputError(source, "op", "is missing");
  for (const auto& [key, value] : settings) {
    bool known = key == "op";
    const auto set = [&, &key = key, &value = value](const char* name, schema::Bits, auto& field) {
      if (key != name) return;
      known = true;
      if (!Parse(value, field)) throw InputError(source, key, "cannot be \"" + value + "\"");
    };
    generate::ForEachSetting(set, *spec);
    if (!known) throw InputError(source, key, "is no setting");
  }
  Check(*spec);
  return *std::move(spec);
}

}  // namespace kvexact
