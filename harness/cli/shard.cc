// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/shard.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "harness/case/input_error.h"

namespace kvexact::cli {
namespace {

constexpr std::int64_t kMostShards = 1 << 20;

std::optional<std::int64_t> NumberOf(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsPart(const Shard& shard) { return shard.index >= 0 && shard.index < shard.count && shard.count <= kMostShards; }

std::optional<Shard> PartOfText(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::optional<std::int64_t> index = NumberOf(std::string_view(text).substr(0, slash));
  const std::optional<std::int64_t> count = NumberOf(std::string_view(text).substr(slash + 1));
  if (!index || !count || !IsPart({*index, *count})) return std::nullopt;
  return Shard{*index, *count};
}

std::int64_t VariableNumber(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) throw InputError("--shard", "auto", std::string(name) + " is not set");
  const std::optional<std::int64_t> number = NumberOf(text);
  if (!number) throw InputError("--shard", "auto", std::string(name) + " is no number: " + text);
  return *number;
}

Shard PartOfVariables(const char* index, const char* count) {
  const Shard shard{VariableNumber(index), VariableNumber(count)};
  if (!IsPart(shard)) {
    throw InputError("--shard", "auto",
                     std::string(index) + " and " + count + " must be I and N with 0 <= I < N <= 2^20");
  }
  return shard;
}

Shard PartOfSlurmArray() {
  const std::int64_t id = VariableNumber("SLURM_ARRAY_TASK_ID");
  const std::int64_t first = VariableNumber("SLURM_ARRAY_TASK_MIN");
  const std::int64_t last = VariableNumber("SLURM_ARRAY_TASK_MAX");
  const std::int64_t count = VariableNumber("SLURM_ARRAY_TASK_COUNT");
  const bool in_bounds = 0 <= first && first <= id && id <= last && count >= 1 && count <= kMostShards;
  const std::int64_t step = in_bounds && count > 1 ? (last - first) / (count - 1) : 1;
  const bool equal_steps = in_bounds && step >= 1 && last - first == step * (count - 1) && (id - first) % step == 0;
  if (!equal_steps) {
    throw InputError("--shard", "auto", "the Slurm array's tasks are not numbered in equal steps");
  }
  return {(id - first) / step, count};
}

}  // namespace

Shard ShardOfText(const std::string& text) {
  if (text == "auto") return ShardOfEnvironment();
  const std::optional<Shard> shard = PartOfText(text);
  if (!shard) throw InputError("--shard", text, "must be I/N with 0 <= I < N <= 2^20, or auto");
  return *shard;
}

Shard ShardOfEnvironment() {
  if (const char* part = std::getenv("KVEXACT_SHARD")) {
    const std::optional<Shard> shard = PartOfText(part);
    if (!shard) throw InputError("--shard", "auto", std::string("KVEXACT_SHARD is no part I/N: ") + part);
    return *shard;
  }
  if (std::getenv("KVEXACT_SHARD_INDEX") != nullptr)
    return PartOfVariables("KVEXACT_SHARD_INDEX", "KVEXACT_SHARD_COUNT");
  if (std::getenv("SLURM_ARRAY_TASK_ID") != nullptr) return PartOfSlurmArray();
  if (std::getenv("GTEST_SHARD_INDEX") != nullptr) return PartOfVariables("GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS");
  throw InputError("--shard", "auto",
                   "needs KVEXACT_SHARD, KVEXACT_SHARD_INDEX and _COUNT, a Slurm array, or GTEST_SHARD_INDEX and "
                   "GTEST_TOTAL_SHARDS");
}

}  // namespace kvexact::cli
