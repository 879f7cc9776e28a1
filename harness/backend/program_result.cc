// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/program_result.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "harness/case/file_io.h"
#include "harness/case/safetensors.h"

namespace kvexact {
namespace {

std::string TypeAndShape(DType type, const std::vector<std::int64_t>& shape) {
  std::string text = std::string(NameOf(type)) + " [";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string Mismatch(const safetensors::File& file, const TensorMap& outputs) {
  for (const auto& [name, tensor] : outputs) {
    const auto found = file.entries.find(name);
    if (found == file.entries.end()) return "the result file lacks the output " + name;
    const safetensors::Entry& entry = found->second;
    if (entry.dtype != tensor.dtype() || entry.shape != tensor.shape()) {
      return "the result file has " + name + " as " + TypeAndShape(entry.dtype, entry.shape) + ", must be " +
             TypeAndShape(tensor.dtype(), tensor.shape());
    }
  }
  for (const auto& [name, entry] : file.entries) {
    if (!outputs.contains(name)) return "the result file has \"" + Printable(name, 60) + "\", which is no output";
  }
  return "";
}

}  // namespace

std::string ReadResult(const std::string& path, TensorMap& outputs) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return "answered ok without writing the result file";
  try {
    // Its header first: of a file that does not hold the outputs alone, however large, no more is read.
    const FileFront front = ReadFront(path, safetensors::kMaxFrontBytes);
    std::string mismatch =
        Mismatch(safetensors::ParseHeader(front.bytes, front.file_bytes, "the result file"), outputs);
    if (!mismatch.empty()) return mismatch;
    const std::vector<std::uint8_t> bytes = ReadFile(path);
    const safetensors::File file = safetensors::Parse(bytes, "the result file");
    mismatch = Mismatch(file, outputs);  // once more: the program lives on
    if (!mismatch.empty()) return mismatch;
    for (auto& [name, tensor] : outputs) {
      const safetensors::Entry& entry = file.entries.at(name);
      std::copy(file.data.begin() + entry.begin, file.data.begin() + entry.end, tensor.bytes());
    }
  } catch (const InputError& e) {
    // The path is another one in every run.
    const std::string text = e.what();
    const std::string unreadable = path + ": file: ";
    return text.starts_with(unreadable) ? "the result file: " + text.substr(unreadable.size()) : text;
  }
  return "";
}

}  // namespace kvexact
