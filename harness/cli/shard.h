// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/run/case_source.h"

namespace kvexact::cli {

// "I/N" with 0 <= I < N <= 2^20, or "auto": the part that the environment names. Throws InputError.
Shard ShardOfText(const std::string& text);

// The first of these that is set:
//   KVEXACT_SHARD=I/N
//   KVEXACT_SHARD_INDEX, KVEXACT_SHARD_COUNT          for any CI's matrix
//   SLURM_ARRAY_TASK_ID with _MIN, _MAX, _COUNT        an array with equal steps, such as 0-7 or 1-15:2
//   GTEST_SHARD_INDEX, GTEST_TOTAL_SHARDS
// Throws InputError if none is, or if what is set names no part.
Shard ShardOfEnvironment();

}  // namespace kvexact::cli
