// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "reference/numerics/window.h"

namespace kvexact {

// A window over its own memory: `rows` rows of `columns` scores and KV values.
class RandomWindow {
 public:
  RandomWindow(int rows, int columns, float score_spread, float kv_scale, std::uint64_t seed)
      : score_(static_cast<std::size_t>(rows * columns)), kv_(score_.size()) {
    std::mt19937_64 engine(seed);
    const auto symmetric = [&] {
      return static_cast<float>(static_cast<std::int64_t>(engine() >> 11)) * 0x1p-52F - 1.0F;
    };
    for (std::size_t i = 0; i < score_.size(); ++i) {
      score_[i] = score_spread * symmetric();
      kv_[i] = kv_scale * symmetric();
    }
    window_.columns = columns;
    for (int r = 0; r < rows; ++r) {
      window_.score.push_back(score_.data() + r * columns);
      window_.kv.push_back(kv_.data() + r * columns);
    }
  }
  RandomWindow(const RandomWindow&) = delete;
  RandomWindow& operator=(const RandomWindow&) = delete;

  const Window& window() const { return window_; }
  void mask(int rows) { window_.masked = rows; }
  float& score(int row, int column) { return score_[static_cast<std::size_t>(row * window_.columns + column)]; }
  float& kv(int row, int column) { return kv_[static_cast<std::size_t>(row * window_.columns + column)]; }

 private:
  std::vector<float> score_;
  std::vector<float> kv_;
  Window window_;
};

}  // namespace kvexact
