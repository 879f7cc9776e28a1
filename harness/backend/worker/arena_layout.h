// SPDX-License-Identifier: Apache-2.0
// How a tensor lies in memory that both processes see: whole pages of its own, its end at the end of the last page, so
// that the first byte behind it is (nearly) the first byte of a guard page.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace kvexact::worker {

inline constexpr std::int64_t kAlignment = 64;   // of a tensor's first byte
inline constexpr std::int64_t kGuard = 1 << 20;  // unmapped bytes on either side of the pages
inline constexpr std::uint8_t kCanary = 0xA5;    // of bytes of the pages that are not the tensor's

constexpr std::int64_t RoundUp(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

struct Span {
  std::int64_t pages_begin = 0;  // bytes from the arena's start
  std::int64_t pages_size = 0;
  std::int64_t data_offset = 0;  // of the tensor's first byte from pages_begin
  std::int64_t size = 0;

  std::int64_t end_offset() const { return data_offset + size; }
};

inline std::int64_t PageSize() { return ::sysconf(_SC_PAGESIZE); }

inline Span SpanAt(std::int64_t pages_begin, std::int64_t size) {
  const std::int64_t pages = RoundUp(size > 0 ? size : 1, PageSize());
  return {pages_begin, pages, pages - RoundUp(size, kAlignment), size};
}

}  // namespace kvexact::worker
