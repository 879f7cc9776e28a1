// SPDX-License-Identifier: Apache-2.0
// The slowest stage of an enclosure, evaluated once for all variants that meet the same window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reference/numerics/enclosure.h"

namespace kvexact {

// Weighted means of windows, by the windows' contents. All calls must be under one budget, and a stage that is given
// must depend on nothing else. Not for several threads at once.
class EnclosedMeans {
 public:
  using Stage = void (*)(const Enclosure&, const Window&, Enclosure::Row&);

  // What stage(a, window, row) leaves in `row`.
  void Get(Stage stage, const Enclosure& a, const Window& window, Enclosure::Row& row);

 private:
  static constexpr std::size_t kMostRows = 2048;  // about 18 MB; later windows are evaluated each time

  struct Key {
    Stage stage;
    std::uint64_t first;  // two digests of the window
    std::uint64_t second;

    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    std::size_t operator()(const Key& key) const { return key.first; }
  };
  static Key KeyOf(Stage stage, const Window& window);

  std::unordered_map<Key, Enclosure::Row, HashKey> rows_;
};

}  // namespace kvexact
