// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <string>

#include "harness/case/case_file.h"
#include "harness/case/safetensors.h"
#include "harness/case/schema.h"

namespace kvexact {
namespace {

std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(const std::string& value) { return value; }

// The shortest text that reads back as the same number.
template <class T>
std::string Text(T value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::map<std::string, std::string> MetadataOf(const Case& c) {
  std::map<std::string, std::string> metadata = c.notes;
  metadata["schema"] = schema::kVersion;
  metadata["op"] = c.row().name;
  const Params defaults;
  for (const schema::ParamRow& row : schema::ParamRows()) {
    if (!Has(row, c.op)) continue;
    std::visit(
        [&](const auto field) {
          if (row.required || c.params.*field != defaults.*field) metadata[row.name] = Text(c.params.*field);
        },
        row.field);
  }
  return metadata;
}

}  // namespace

std::vector<std::uint8_t> SerializeCase(const Case& c) {
  Check(c);
  std::map<std::string, const Tensor*> tensors;
  for (const auto& [name, tensor] : c.inputs) tensors.emplace(name, &tensor);
  for (const auto& [name, tensor] : c.outputs_before) tensors.emplace(name + "_before", &tensor);
  if (c.outputs_after) {
    for (const auto& [name, tensor] : *c.outputs_after) tensors.emplace(name + "_after", &tensor);
  }
  return safetensors::Serialize(MetadataOf(c), tensors, c.name);
}

}  // namespace kvexact
