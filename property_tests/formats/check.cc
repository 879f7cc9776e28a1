// SPDX-License-Identifier: Apache-2.0
#include "property_tests/formats/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kvexact::format_tests {

void Tally::Add(const Tally& other) {
  compared_ += other.compared_;
  mismatched_ += other.mismatched_;
  if (other.first_ && (!first_ || other.first_->bits < first_->bits)) first_ = other.first_;
}

std::vector<Check> AllChecks() {
  std::vector<Check> all = MpfrChecks();
  for (const auto& part : {ScaleChecks(), CudaChecks()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Tally RunRange(const Check& check, std::uint32_t first, std::uint64_t count, std::uint32_t stride) {
  Tally tally;
  std::array<std::uint32_t, 4096> block;
  for (std::uint64_t offset = 0; offset < count;) {
    std::size_t used = 0;
    for (; used < block.size() && offset < count; offset += stride) {
      block[used++] = static_cast<std::uint32_t>(first + offset);
    }
    check.run({block.data(), used}, tally);
  }
  return tally;
}

Tally RunDecisionPoints(const Check& check) {
  Tally tally;
  for (std::uint32_t upper = 0; upper < 1U << 17; ++upper) {
    const std::uint32_t bits = upper << 15;
    const std::array<std::uint32_t, 3> neighbours{bits - 1, bits, bits + 1};
    check.run(neighbours, tally);
  }
  return tally;
}

std::string ToText(const Mismatch& mismatch) {
  return fmt::format("bits 0x{:08x} ({}): expected {}, actual {} ({})", mismatch.bits,
                     std::bit_cast<float>(mismatch.bits), mismatch.expected, mismatch.actual, mismatch.what);
}

}  // namespace kvexact::format_tests
