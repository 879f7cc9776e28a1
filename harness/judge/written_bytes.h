// SPDX-License-Identifier: Apache-2.0
// Which bytes of the output buffers an operation writes; every other byte must keep its value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/case/case.h"
#include "harness/judge/verdict.h"
#include "reference/stages/stages.h"

namespace kvexact {

// Half-open ranges of bytes, ascending and disjoint, a buffer.
struct ByteRange {
  std::int64_t begin;
  std::int64_t end;
};
using ByteRanges = std::map<std::string, std::vector<ByteRange>, std::less<>>;

ByteRanges WrittenBytes(const Case& c, const Stages& stages);

// Counts the bytes outside `written` that differ, and describes the first of each run of them.
void CheckUntouched(const ByteRanges& written, const TensorMap& before, const TensorMap& after, CaseVerdict& verdict);

}  // namespace kvexact
