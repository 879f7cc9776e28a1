// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/enclosed_means.h"

#include <array>
#include <bit>

namespace kvexact {
namespace {

// Digests of eight interleaved streams of words, so that the multiplications overlap.
class Digest {
 public:
  void Add(std::uint32_t word, std::size_t lane) { lanes_[lane] = (lanes_[lane] ^ word) * 0x9E3779B97F4A7C15U; }
  void AddRow(const float* values, int columns) {
    constexpr int kLanes = static_cast<int>(std::tuple_size_v<decltype(lanes_)>);
    int c = 0;
    for (; c + kLanes <= columns; c += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) {
        Add(std::bit_cast<std::uint32_t>(values[c + lane]), static_cast<std::size_t>(lane));
      }
    }
    for (; c < columns; ++c) Add(std::bit_cast<std::uint32_t>(values[c]), 0);
    // A product carries upwards only: what it left in the high half comes back into the low one.
    for (std::uint64_t& lane : lanes_) lane ^= lane >> 29;
  }
  std::uint64_t Folded(std::uint64_t multiplier) const {
    std::uint64_t folded = 0;
    for (const std::uint64_t lane : lanes_) {
      folded = (folded ^ lane) * multiplier;
      folded ^= folded >> 32;
    }
    return folded;
  }

 private:
  std::array<std::uint64_t, 8> lanes_{1, 2, 3, 4, 5, 6, 7, 8};
};

}  // namespace

EnclosedMeans::Key EnclosedMeans::KeyOf(Stage stage, const Window& window) {
  Digest digest;
  for (const int size : {window.rows(), window.masked, window.columns}) digest.Add(static_cast<std::uint32_t>(size), 0);
  for (auto r = static_cast<std::size_t>(window.masked); r < window.score.size(); ++r) {
    digest.AddRow(window.score[r], window.columns);
    digest.AddRow(window.kv[r], window.columns);
  }
  return {stage, digest.Folded(0xD6E8FEB86659FD93U), digest.Folded(0xA0761D6478BD642FU)};
}

void EnclosedMeans::Get(Stage stage, const Enclosure& a, const Window& window, Enclosure::Row& row) {
  const Key key = KeyOf(stage, window);
  const auto found = rows_.find(key);
  if (found != rows_.end()) {
    row = found->second;
    return;
  }
  stage(a, window, row);
  if (rows_.size() < kMostRows) rows_.emplace(key, row);
}

}  // namespace kvexact
