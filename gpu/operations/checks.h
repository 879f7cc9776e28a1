// SPDX-License-Identifier: Apache-2.0
// Pieces of the checks of descriptions.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/operations/status.h"

namespace kvexact::gpu {

// Beyond any real buffer, and small enough that products with sizes of elements stay in 64 bits.
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;

inline Status Invalid(const char* field, const std::string& what) {
  return {StatusCode::kInvalid, std::string(field) + ": " + what};
}

inline Status Unsupported(const char* field, const std::string& what) {
  return {StatusCode::kUnsupported, std::string(field) + ": " + what};
}

inline std::uint64_t Address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

inline Status RequireAligned(const char* field, const void* p, std::uint64_t bytes) {
  if (p == nullptr) return Invalid(field, "is null");
  if (Address(p) % bytes != 0) return Invalid(field, "is not aligned to " + std::to_string(bytes) + " bytes");
  return {};
}

inline Status RequireRange(const char* field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return Invalid(field, "is " + std::to_string(value) + ", must be in [" + std::to_string(least) + ", " +
                            std::to_string(most) + "]");
}

}  // namespace kvexact::gpu
