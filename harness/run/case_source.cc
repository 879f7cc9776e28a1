// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_source.h"

#include <algorithm>
#include <memory>

#include "harness/case/case_file.h"
#include "harness/generate/generate.h"

namespace kvexact {

CaseSource DrawnCases(const DrawSettings& settings, std::int64_t cases, const Shard& shard) {
  const auto spec = [settings, shard](std::int64_t i) {
    return Draw(settings, static_cast<std::uint64_t>(shard.index + i * shard.count));
  };
  const std::int64_t count = std::max<std::int64_t>(0, (cases - shard.index + shard.count - 1) / shard.count);
  return {count, [spec](std::int64_t i) { return ToText(spec(i)); },
          [spec](std::int64_t i) { return Generate(spec(i)); }};
}

CaseSource SpecCases(const std::vector<std::string>& lines) {
  auto specs = std::make_shared<std::vector<CaseSpec>>();
  for (const std::string& line : lines) specs->push_back(ParseSpec(line));
  const auto at = [specs](std::int64_t i) -> const CaseSpec& { return (*specs)[static_cast<std::size_t>(i)]; };
  return {static_cast<std::int64_t>(specs->size()), [at](std::int64_t i) { return ToText(at(i)); },
          [at](std::int64_t i) { return Generate(at(i)); }};
}

CaseSource FileCases(std::vector<std::string> paths) {
  const auto shared = std::make_shared<const std::vector<std::string>>(std::move(paths));
  const auto at = [shared](std::int64_t i) { return (*shared)[static_cast<std::size_t>(i)]; };
  return {static_cast<std::int64_t>(shared->size()), at, [at](std::int64_t i) { return ReadCaseFile(at(i)); }};
}

}  // namespace kvexact
