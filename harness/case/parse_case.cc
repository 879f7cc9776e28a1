// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <filesystem>
#include <new>
#include <system_error>

#include "harness/case/case_file.h"
#include "harness/case/safetensors.h"
#include "harness/case/schema.h"

namespace kvexact {
namespace {

using Metadata = std::map<std::string, std::string>;

// Takes `name` out of the metadata, so that what is left is notes.
std::optional<std::string> Take(Metadata& metadata, const std::string& name) {
  const auto node = metadata.extract(name);
  return node ? std::optional<std::string>(node.mapped()) : std::nullopt;
}

std::string Require(Metadata& metadata, const std::string& name, const std::string& source) {
  std::optional<std::string> text = Take(metadata, name);
  if (!text) throw InputError(source, name, "is missing from the metadata");
  return *std::move(text);
}

// Reads one parameter from its text; the text must be nothing but the value.
class ParamReader {
 public:
  ParamReader(Params& params, const char* name, const std::string& text, const std::string& source)
      : params_(params), name_(name), text_(text), source_(source) {}

  void operator()(std::int64_t Params::*field) const { params_.*field = Number<std::int64_t>("an integer of 64 bits"); }
  void operator()(double Params::*field) const { params_.*field = Number<double>("a number"); }
  void operator()(bool Params::*field) const {
    if (text_ != "true" && text_ != "false") Refuse("true or false");
    params_.*field = text_ == "true";
  }
  void operator()(std::string Params::*field) const { params_.*field = text_; }

 private:
  template <class T>
  T Number(const char* expected) const {
    T value{};
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data(), end, value);
    if (error != std::errc() || stop != end) Refuse(expected);
    return value;
  }
  [[noreturn]] void Refuse(const char* expected) const {
    throw InputError(source_, name_, "is \"" + Printable(text_, 40) + "\", must be " + expected);
  }

  Params& params_;
  const char* name_;
  const std::string& text_;
  const std::string& source_;
};

void ReadParams(Case& c, Metadata& metadata, const std::string& source) {
  for (const schema::ParamRow& row : schema::ParamRows()) {
    if (!Has(row, c.op)) continue;
    const std::optional<std::string> text = Take(metadata, row.name);
    if (text) {
      std::visit(ParamReader(c.params, row.name, *text, source), row.field);
    } else if (row.required) {
      throw InputError(source, row.name, "is missing from the metadata");
    }
  }
}

// Moves the tensor called `name` out of the file into `tensors[key]`, if the file has it.
bool TakeTensor(safetensors::File& file, const std::string& name, const std::string& key, TensorMap& tensors) {
  const auto node = file.entries.extract(name);
  if (!node) return false;
  tensors.emplace(key, safetensors::Load(file, node.mapped()));
  return true;
}

void ReadTensors(Case& c, safetensors::File& file, const std::string& source) {
  TensorMap after;
  for (const schema::TensorRow& row : schema::TensorRows()) {
    if (!Has(row, c.op)) continue;
    if (row.role == schema::Role::kInput) {
      TakeTensor(file, row.name, row.name, c.inputs);
      continue;
    }
    const std::string name = row.name;
    TakeTensor(file, name + "_before", name, c.outputs_before);
    TakeTensor(file, name + "_after", name, after);
  }
  if (!after.empty()) c.outputs_after = std::move(after);
  if (!file.entries.empty()) {
    throw InputError(source, file.entries.begin()->first, std::string("is no tensor of ") + c.row().name);
  }
}

Case Parse(std::span<const std::uint8_t> bytes, const std::string& source) {
  safetensors::File file = safetensors::Parse(bytes, source);
  Metadata& metadata = file.metadata;
  const std::string version = Require(metadata, "schema", source);
  if (version != schema::kVersion) {
    throw InputError(source, "schema", "is \"" + Printable(version, 40) + "\", known is \"" + schema::kVersion + "\"");
  }
  const std::string op = Require(metadata, "op", source);
  const std::optional<spec::Operation> operation = schema::OperationNamed(op);
  if (!operation) throw InputError(source, "op", "\"" + Printable(op, 40) + "\" is no known operation");
  Case c;
  c.op = *operation;
  ReadParams(c, metadata, source);
  ReadTensors(c, file, source);
  c.notes = std::move(metadata);
  c.name = source;  // for the messages of Check
  Check(c);
  c.name = std::filesystem::path(source).stem().string();
  return c;
}

}  // namespace

Case ParseCase(std::span<const std::uint8_t> bytes, const std::string& source) {
  try {
    return Parse(bytes, source);
  } catch (const std::bad_alloc&) {
    throw InputError(source, "data", "does not fit in memory");
  }
}

}  // namespace kvexact
