// SPDX-License-Identifier: Apache-2.0
// What the judge says of one run of one case.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace kvexact {

enum class ElementKind : std::uint8_t {
  kCode,    // E4M3 byte or E2M1 nibble
  kScale,   // UE8M0 byte or fp32 power of two; the zero pad byte counts as one
  kBf16,    // rotated value
  kFp32,    // scratch value
  kWeight,  // folded indexer weight
};
inline constexpr int kElementKinds = 5;
const char* NameOf(ElementKind kind);

enum class Finding : std::uint8_t {
  kExact,      // equals the strict model
  kAllowed,    // differs, but is a member of the allowed set
  kWrong,      // outside the allowed set
  kUnwritten,  // outside the allowed set, and what the buffer held before
  kUnjudged,   // left open by the policy
};
const char* NameOf(Finding finding);

struct Tally {
  std::int64_t exact = 0;
  std::int64_t allowed = 0;
  std::int64_t wrong = 0;
  std::int64_t unwritten = 0;
  std::int64_t unjudged = 0;
  std::int64_t single = 0;  // judged elements whose allowed set has one member, the strict value
  double width_ulp = 0;     // kFp32: sum over elements of the allowed set's width, fp32 steps

  std::int64_t judged() const { return exact + allowed + wrong + unwritten; }
  std::int64_t elements() const { return judged() + unjudged; }
  Tally& operator+=(const Tally& other);
};

// One element that is not as it should be, one that differs between runs, or one byte that changed and must not.
struct Problem {
  enum class What : std::uint8_t { kWrong, kUnwritten, kTouched, kUnstable };
  What what = What::kWrong;
  ElementKind kind = ElementKind::kCode;  // not for kTouched
  std::string buffer;
  std::int64_t byte_offset = 0;  // of the element's first byte in the buffer
  std::int64_t token = -1;       // index in the launch's arrays; -1 for kTouched
  std::int64_t head = -1;        // indexer Q only
  std::int64_t element = -1;     // within the token's (or head's) elements of that kind
  std::string observed;          // raw and decoded
  std::string expected;          // of the strict model, raw and decoded
  std::string allowed;           // the allowed set, in words
};

// A token (of Q: one head of it) whose values the policy leaves open.
struct OpenToken {
  std::int64_t token;
  std::int64_t head;  // -1 for compression
  auto operator<=>(const OpenToken&) const = default;
};

struct CaseVerdict {
  std::array<Tally, kElementKinds> tallies;
  std::int64_t touched = 0;         // bytes
  std::int64_t touched_ranges = 0;  // of such bytes
  std::int64_t tokens = 0;          // that store something
  std::int64_t wrong_rows = 0;      // tokens (of Q: heads of one) with a wrong or unwritten element
  std::vector<OpenToken> open;      // whose elements are unjudged
  std::vector<Problem> problems;    // the first max_problems of the judge's, the first kMaxProblems of others
  static constexpr std::size_t kMaxProblems = 64;
  std::size_t max_problems = kMaxProblems;

  Tally& tally(ElementKind kind) { return tallies[static_cast<std::size_t>(kind)]; }
  const Tally& tally(ElementKind kind) const { return tallies[static_cast<std::size_t>(kind)]; }
  Tally total() const;
  bool right() const;
};

}  // namespace kvexact
