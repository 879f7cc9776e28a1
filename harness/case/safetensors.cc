// SPDX-License-Identifier: Apache-2.0
#include "harness/case/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/case/checked_math.h"
#include "harness/case/input_error.h"

namespace kvexact::safetensors {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor bytes are copied as they lie in the file");

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = kMaxFrontBytes - kLengthBytes;
constexpr std::size_t kMaxRank = 8;
constexpr char kMetadata[] = "__metadata__";

// Builds a File from the events of the JSON parser, which stops at the first `false`: nothing that
// is not part of the schema is ever stored, however deep or long the header is.
//   { "__metadata__": {string: string, ...}, NAME: {"dtype": s, "shape": [n...], "data_offsets": [n, n]}, ... }
class HeaderReader {
 public:
  HeaderReader(File& file, std::string source) : file_(file), source_(std::move(source)) {}

  bool start_object(std::size_t) {
    if (depth_ >= 2 || in_array_) return Unexpected("an object");
    if (depth_ == 1 && name_ != kMetadata) seen_ = 0;
    ++depth_;
    return true;
  }
  bool end_object() {
    --depth_;
    if (depth_ == 1 && name_ != kMetadata && seen_ != kAllFields) {
      return Refuse(name_, "needs dtype, shape and data_offsets, each once");
    }
    return true;
  }
  bool key(std::string& key) {
    if (depth_ == 1) {
      const bool fresh =
          key == kMetadata ? !std::exchange(metadata_seen_, true) : file_.entries.try_emplace(key).second;
      if (!fresh) return Refuse(key, "appears twice");
      name_ = key;
      return true;
    }
    field_ = key;
    if (name_ == kMetadata) {
      return file_.metadata.try_emplace(key).second || Refuse(key, "appears twice in the metadata");
    }
    const unsigned bit = key == "dtype" ? kDtype : key == "shape" ? kShape : key == "data_offsets" ? kOffsets : 0U;
    if (bit == 0) return Refuse(name_, "has an unknown property \"" + Printable(key, 40) + "\"");
    if ((seen_ & bit) != 0) return Refuse(name_, key + " appears twice");
    seen_ |= bit;
    return true;
  }
  bool string(std::string& value) {
    if (depth_ != 2 || in_array_) return Unexpected("a string");
    if (name_ == kMetadata) {
      file_.metadata[field_] = value;
      return true;
    }
    if (field_ != "dtype") return Unexpected("a string");
    const std::optional<DType> dtype = DTypeNamed(value);
    if (!dtype) return Refuse(name_, "has type \"" + Printable(value, 40) + "\", known are U8, BF16, F32, I32, I64");
    entry().dtype = *dtype;
    return true;
  }
  bool start_array(std::size_t) {
    const bool expected = depth_ == 2 && !in_array_ && name_ != kMetadata && field_ != "dtype";
    if (!expected) return Unexpected("an array");
    in_array_ = true;
    numbers_.clear();
    return true;
  }
  bool end_array() {
    in_array_ = false;
    if (field_ == "shape") {
      entry().shape = numbers_;
      return true;
    }
    if (numbers_.size() != 2) return Refuse(name_, "data_offsets must hold two numbers");
    entry().begin = numbers_[0];
    entry().end = numbers_[1];
    return true;
  }
  bool number_unsigned(json::number_unsigned_t value) {
    if (!in_array_) return Unexpected("a number");
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return Refuse(name_, field_ + " holds a number beyond 2^63 - 1");
    if (numbers_.size() >= kMaxRank)
      return Refuse(name_, fmt::format("{} holds more than {} numbers", field_, kMaxRank));
    numbers_.push_back(static_cast<std::int64_t>(value));
    return true;
  }
  bool number_integer(json::number_integer_t value) {
    if (!in_array_) return Unexpected("a number");
    return Refuse(name_, fmt::format("{} holds the negative number {}", field_, value));
  }
  bool number_float(json::number_float_t, const std::string& text) {
    if (!in_array_) return Unexpected("a number");
    return Refuse(name_, field_ + " holds " + Printable(text, 40) + ", which is no integer below 2^63");
  }
  bool null() { return Unexpected("null"); }
  bool boolean(bool) { return Unexpected("a boolean"); }
  bool binary(json::binary_t&) { return Unexpected("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) {
    return Refuse("header", fmt::format("is not valid JSON, at byte {}", position));
  }

  // The first refusal; call only after the parser has stopped early.
  InputError error() const { return {source_, error_field_, error_}; }

 private:
  static constexpr unsigned kDtype = 1;
  static constexpr unsigned kShape = 2;
  static constexpr unsigned kOffsets = 4;
  static constexpr unsigned kAllFields = 7;

  Entry& entry() { return file_.entries.find(name_)->second; }

  bool Refuse(const std::string& field, std::string what) {
    error_field_ = field;
    error_ = std::move(what);
    return false;
  }
  bool Unexpected(const char* what) {
    if (depth_ == 0) return Refuse("header", std::string("must be an object, is ") + what);
    if (depth_ == 2 && name_ == kMetadata) return Refuse(field_, std::string("must be a string, is ") + what);
    return Refuse(name_, std::string("has ") + what + " where none belongs");
  }

  File& file_;
  std::string source_;
  int depth_ = 0;
  bool in_array_ = false;
  bool metadata_seen_ = false;
  unsigned seen_ = 0;
  std::string name_;   // tensor, or __metadata__
  std::string field_;  // key within it
  std::vector<std::int64_t> numbers_;
  std::string error_field_ = "header";
  std::string error_ = "is not valid JSON";
};

void CheckSize(const std::string& name, const Entry& entry, std::uint64_t data_bytes, const std::string& source) {
  std::optional<std::int64_t> bytes = SizeOf(entry.dtype);
  for (const std::int64_t extent : entry.shape) {
    if (bytes) bytes = CheckedMul(*bytes, extent);
  }
  if (!bytes) throw InputError(source, name, "its shape asks for more than 2^63 bytes");
  if (entry.begin > entry.end) {
    throw InputError(source, name, fmt::format("data_offsets run backwards, {} to {}", entry.begin, entry.end));
  }
  if (static_cast<std::uint64_t>(entry.end) > data_bytes) {
    throw InputError(source, name, fmt::format("ends at byte {}, the data holds {}", entry.end, data_bytes));
  }
  if (entry.end - entry.begin != *bytes) {
    throw InputError(
        source, name,
        fmt::format("data_offsets hold {} bytes, its type and shape need {}", entry.end - entry.begin, *bytes));
  }
}

void CheckCoverage(const File& file, std::uint64_t data_bytes, const std::string& source) {
  std::vector<std::pair<const Entry*, const std::string*>> order;
  for (const auto& [name, entry] : file.entries) order.emplace_back(&entry, &name);
  std::ranges::sort(order, {}, [](const auto& item) { return std::pair(item.first->begin, item.first->end); });
  std::int64_t covered = 0;
  const std::string* previous = nullptr;
  for (const auto& [entry, name] : order) {
    if (entry->begin < covered) {
      throw InputError(source, *name, "overlaps " + Printable(*previous, 60));
    }
    if (entry->begin > covered) {
      throw InputError(
          source, *name,
          fmt::format("starts at byte {}, but bytes {} and on belong to no tensor", entry->begin, covered));
    }
    covered = entry->end;
    previous = name;
  }
  if (static_cast<std::uint64_t>(covered) != data_bytes) {
    throw InputError(source, "data", fmt::format("holds {} bytes, its tensors end at {}", data_bytes, covered));
  }
}

// The header of a file of `file_bytes` bytes of which `front` is the beginning.
std::span<const std::uint8_t> HeaderOf(std::span<const std::uint8_t> front, std::uint64_t file_bytes,
                                       const std::string& source) {
  if (file_bytes == 0) throw InputError(source, "header", "the file is empty");
  if (file_bytes < kLengthBytes) {
    throw InputError(source, "header", fmt::format("the file ends at byte {}, within the length", file_bytes));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, front.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    throw InputError(source, "header", fmt::format("length {} is beyond the limit of {}", length, kMaxHeaderBytes));
  }
  if (length > file_bytes - kLengthBytes) {
    throw InputError(source, "header", fmt::format("length {} runs beyond the file's {} bytes", length, file_bytes));
  }
  return front.subspan(kLengthBytes, length);
}

void ReadHeader(File& file, std::span<const std::uint8_t> header, const std::string& source) {
  // The parser takes a zero byte for the end of its text.
  const auto zero = std::ranges::find(header, 0);
  if (zero != header.end()) {
    throw InputError(source, "header", fmt::format("is not valid JSON, at byte {}", zero - header.begin() + 1));
  }
  HeaderReader reader(file, source);
  if (!json::sax_parse(header.begin(), header.end(), &reader)) throw reader.error();
}

}  // namespace

File ParseHeader(std::span<const std::uint8_t> front, std::uint64_t file_bytes, const std::string& source) {
  const std::span<const std::uint8_t> header = HeaderOf(front, file_bytes, source);
  File file;
  ReadHeader(file, header, source);
  const std::uint64_t data_bytes = file_bytes - kLengthBytes - header.size();
  for (const auto& [name, entry] : file.entries) CheckSize(name, entry, data_bytes, source);
  CheckCoverage(file, data_bytes, source);
  return file;
}

File Parse(std::span<const std::uint8_t> bytes, const std::string& source) {
  File file = ParseHeader(bytes, bytes.size(), source);
  file.data = bytes.subspan(kLengthBytes + HeaderOf(bytes, bytes.size(), source).size());
  return file;
}

Tensor Load(const File& file, const Entry& entry) {
  Tensor tensor(entry.dtype, entry.shape);
  const auto bytes =
      file.data.subspan(static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(tensor.size_bytes()));
  if (!bytes.empty()) std::memcpy(tensor.bytes(), bytes.data(), bytes.size());
  return tensor;
}

std::vector<std::uint8_t> Serialize(const std::map<std::string, std::string>& metadata,
                                    const std::map<std::string, const Tensor*>& tensors, const std::string& source) {
  std::vector<std::pair<std::string, const Tensor*>> order(tensors.begin(), tensors.end());
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const auto& item) { return SizeOf(item.second->dtype()); });
  json header;
  header[kMetadata] = metadata;
  std::int64_t end = 0;
  for (const auto& [name, tensor] : order) {
    const std::int64_t begin = std::exchange(end, end + tensor->size_bytes());
    header[name] = {{"dtype", NameOf(tensor->dtype())}, {"shape", tensor->shape()}, {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    throw InputError(source, "header", "a name or a note is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data starts aligned
  const std::uint64_t length = text.size();
  if (length > kMaxHeaderBytes) {
    throw InputError(source, "header", fmt::format("{} bytes are beyond the limit of {}", length, kMaxHeaderBytes));
  }
  std::vector<std::uint8_t> bytes(kLengthBytes + text.size() + static_cast<std::size_t>(end));
  std::memcpy(bytes.data(), &length, kLengthBytes);
  std::memcpy(bytes.data() + kLengthBytes, text.data(), text.size());
  std::uint8_t* next = bytes.data() + kLengthBytes + text.size();
  for (const auto& [name, tensor] : order) {
    next = std::ranges::copy(tensor->byte_span(), next).out;
  }
  return bytes;
}

}  // namespace kvexact::safetensors
