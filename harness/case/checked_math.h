// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic on sizes that come from outside: a result that does not fit is reported, not wrapped.
#pragma once

#include <cstdint>
#include <optional>

namespace kvexact {

inline std::optional<std::int64_t> CheckedMul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

inline std::optional<std::int64_t> CheckedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// a * b + c, exact or nothing.
inline std::optional<std::int64_t> CheckedMulAdd(std::int64_t a, std::int64_t b, std::int64_t c) {
  const std::optional<std::int64_t> product = CheckedMul(a, b);
  return product ? CheckedAdd(*product, c) : std::nullopt;
}

}  // namespace kvexact
