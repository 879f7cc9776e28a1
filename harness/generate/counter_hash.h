// SPDX-License-Identifier: Apache-2.0
// Random numbers as a pure function of (seed, stream, index): the SplitMix64 sequence of Steele, Lea and Flood
// (2014), read at any index. Integers only, so every compiler and machine gives the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace kvexact::generate {

constexpr std::uint64_t Mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Names a stream: the seed, then what the stream is for (a tensor, a request, a position, ...).
constexpr std::uint64_t StreamKey(std::uint64_t seed, std::initializer_list<std::uint64_t> names) {
  std::uint64_t key = Mix(seed + 0x9E3779B97F4A7C15U);
  for (const std::uint64_t name : names) key = Mix(key ^ (name + 0x9E3779B97F4A7C15U));
  return key;
}

// Number `index` of the stream.
constexpr std::uint64_t At(std::uint64_t key, std::uint64_t index) {
  return Mix(key + (index + 1) * 0x9E3779B97F4A7C15U);
}

// Reads a stream in order. Two reads in one expression must be ordered by the language: compilers
// evaluate operands and arguments in different orders.
class Stream {
 public:
  explicit Stream(std::uint64_t key) : key_(key) {}

  std::uint64_t Next() { return At(key_, index_++); }

  // Uniform in [0, bound), bound in [1, 2^32].
  std::int64_t Below(std::int64_t bound) {
    return static_cast<std::int64_t>(((Next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
  }
  // Uniform in [low, high].
  std::int64_t Between(std::int64_t low, std::int64_t high) { return low + Below(high - low + 1); }
  bool OneIn(std::int64_t n) { return Below(n) == 0; }
  bool Percent(std::int64_t percent) { return Below(100) < percent; }

  template <class T>
  T Pick(std::initializer_list<T> choices) {
    return choices.begin()[Below(static_cast<std::int64_t>(choices.size()))];
  }
  // Pick with integer weights.
  template <class T>
  T PickWeighted(std::initializer_list<std::pair<T, int>> choices) {
    std::int64_t total = 0;
    for (const auto& choice : choices) total += choice.second;
    std::int64_t left = Below(total);
    for (const auto& choice : choices) {
      left -= choice.second;
      if (left < 0) return choice.first;
    }
    return choices.begin()->first;
  }
  template <class T>
  void Shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<std::size_t>(Below(static_cast<std::int64_t>(i)))]);
    }
  }

 private:
  std::uint64_t key_;
  std::uint64_t index_ = 0;
};

}  // namespace kvexact::generate
