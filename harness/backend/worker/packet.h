// SPDX-License-Identifier: Apache-2.0
// Messages between the harness and its worker, two programs of one build on one machine: values one after another in
// the machine's own representation.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace kvexact::worker {

// Descriptors of the worker.
inline constexpr int kSocket = 3;
inline constexpr int kArena = 4;

// Raised with every change of a message. Sent first, so that programs of two builds do not misunderstand each other.
inline constexpr std::uint32_t kProtocol = 2;

// The first page of the arena: what the library is doing, as text that ends with a null byte.
inline constexpr std::size_t kPhaseBytes = 64;

enum class Message : std::uint8_t {
  kOpened,      // to the harness: protocol, memory, bit_exact, name, version, device, policy, budget
  kOpenFailed,  // to the harness: protocol, field, what
  kLaunch,      // to the worker
  kDone,        // to the harness: status, text, written inputs, damaged guards
  kClose,       // to the worker: destroy the handle and end
  kClosed,      // to the harness: the handle is destroyed
  kFault,       // to the harness, then the worker dies: text
};

enum class Status : std::uint8_t { kOk, kUnsupported, kError, kUnusable };  // kUnusable: the worker ends itself

// A message is the length of its body as std::uint32_t, then the body, which begins with a Message.
class Writer {
 public:
  explicit Writer(Message message) { Put(message); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void Put(const T& value) { body_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void Put(const std::string& text) {
    Put(static_cast<std::uint32_t>(text.size()));
    body_ += text;
  }
  void Put(const std::vector<std::string>& texts) {
    Put(static_cast<std::uint32_t>(texts.size()));
    for (const std::string& text : texts) Put(text);
  }
  // Length and body.
  std::string Bytes() const {
    const auto length = static_cast<std::uint32_t>(body_.size());
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + body_;
  }

 private:
  std::string body_;
};

// Throws std::runtime_error where the body is shorter than what is asked of it.
class Reader {
 public:
  explicit Reader(std::vector<char> body) : body_(std::move(body)) {}
  template <class T>
  requires std::is_trivially_copyable_v<T> T Get() {
    T value;
    std::memcpy(&value, Take(sizeof value), sizeof value);
    return value;
  }
  std::string GetText() {
    const auto size = Get<std::uint32_t>();
    const char* text = Take(size);
    return {text, size};
  }
  std::vector<std::string> GetTexts() {
    std::vector<std::string> texts;
    for (auto count = Get<std::uint32_t>(); count > 0; --count) texts.push_back(GetText());
    return texts;
  }

 private:
  const char* Take(std::size_t size) {
    if (size > body_.size() - at_) throw std::runtime_error("a message of the worker is cut short");
    at_ += size;
    return body_.data() + at_ - size;
  }
  std::vector<char> body_;
  std::size_t at_ = 0;
};

}  // namespace kvexact::worker
