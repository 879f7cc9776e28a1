// SPDX-License-Identifier: Apache-2.0
#include "harness/report/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/case/input_error.h"
#include "harness/report/totals.h"

namespace kvexact {
namespace {

// Shards that a run may have, so that a list of missing ones stays readable and finite.
constexpr std::int64_t kMostShards = 1 << 20;
constexpr std::size_t kMostMissingNamed = 1000;
constexpr std::int64_t kMostElements = std::int64_t{1} << 53;  // as in one report

std::string ListText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

template <class T>
std::string OptionalText(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "none";
}

// What must agree, by name.
std::vector<std::pair<const char*, std::string>> IdentityOf(const Report& report) {
  const RunDescription& d = report.description();
  const Environment& e = report.parts().environment;
  return {{"git_revision", e.git_revision},
          {"kvexact", e.version},
          {"command", d.command},
          {"subject", d.subject},
          {"version", d.version},
          {"seed", OptionalText(d.seed)},
          {"cases", OptionalText(d.cases)},
          {"max_configs", OptionalText(d.max_configs)},
          {"operations", ListText(d.operations)},
          {"policy", d.policy},
          {"budget", d.budget},
          {"require_all", d.require_all ? "true" : "false"}};
}

void CheckAlike(const NamedReport& first, const NamedReport& other) {
  const auto expected = IdentityOf(first.report);
  const auto found = IdentityOf(other.report);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].second == found[i].second) continue;
    throw InputError(other.name, expected[i].first,
                     fmt::format("is {}, and {} in {}", found[i].second, expected[i].second, first.name));
  }
}

void Append(const Report& from, ReportParts& to) {
  const ReportParts& parts = from.parts();
  to.started = to.started.empty() ? parts.started : std::min(to.started, parts.started);
  to.seconds += parts.seconds;
  for (const ReportRow& row : parts.rows) AddRow(row, to.rows);
  to.failures.insert(to.failures.end(), parts.failures.begin(), parts.failures.end());
  to.failing_cases += parts.failing_cases;
  for (const std::string& message : parts.unreadable) {
    if (to.unreadable.size() < Report::kMaxUnreadable) to.unreadable.push_back(message);
  }
  to.unreadable_cases += parts.unreadable_cases;
  for (const auto& [reason, cases] : parts.unsupported) to.unsupported[reason] += cases;
}

// Failures that were studied come first, else they keep the order of the shards.
void KeepFirst(std::vector<Failure>& failures) {
  std::stable_partition(failures.begin(), failures.end(), [](const Failure& f) { return f.studied; });
  failures.resize(std::min(failures.size(), Report::kMaxFailures));
}

// Every shard's report by its index.
std::map<std::int64_t, const NamedReport*> ByShard(const std::vector<NamedReport>& reports) {
  if (reports.empty()) throw InputError("merge", "reports", "none was given");
  std::map<std::int64_t, const NamedReport*> by_shard;
  std::int64_t count = 0;
  for (const NamedReport& named : reports) {
    if (!named.report.description().shard) throw InputError(named.name, "shard", "is missing: no part of a run");
    const Shard shard = *named.report.description().shard;
    if (shard.count > kMostShards) throw InputError(named.name, "shard", "is one of more than 2^20");
    if (count == 0) count = shard.count;
    if (shard.count != count) {
      throw InputError(named.name, "shard", fmt::format("is one of {}, and of {} elsewhere", shard.count, count));
    }
    CheckAlike(reports.front(), named);
    const auto [place, added] = by_shard.emplace(shard.index, &named);
    if (!added) {
      throw InputError(named.name, "shard", fmt::format("{} is in {} too", ShardText(shard), place->second->name));
    }
  }
  return by_shard;
}

// Devices that the reports name, each once.
std::string DevicesOf(const std::vector<NamedReport>& reports) {
  std::vector<std::string> devices;
  for (const NamedReport& named : reports) {
    const std::string& device = named.report.description().device;
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
  }
  std::string text;
  for (const std::string& device : devices) text += (text.empty() ? "" : " | ") + device;
  return text;
}

ReportParts Merged(const std::vector<NamedReport>& reports,
                   const std::map<std::int64_t, const NamedReport*>& by_shard) {
  ReportParts parts;
  parts.description = reports.front().report.description();
  parts.description.device = DevicesOf(reports);
  parts.description.shard.reset();
  parts.environment = reports.front().report.parts().environment;
  std::int64_t elements = 0;
  for (const auto& [index, named] : by_shard) {
    elements += named->report.total().total().elements();
    if (elements > kMostElements) throw InputError(named->name, "rows", "with the other shards', pass 2^53 elements");
    Append(named->report, parts);
  }
  KeepFirst(parts.failures);
  return parts;
}

}  // namespace

Report MergeReports(const std::vector<NamedReport>& reports) {
  const auto by_shard = ByShard(reports);
  ReportParts parts = Merged(reports, by_shard);
  parts.merged_shards = static_cast<std::int64_t>(by_shard.size());
  const std::int64_t count = reports.front().report.description().shard->count;
  for (std::int64_t i = 0; i < count && parts.missing_shards.size() < kMostMissingNamed; ++i) {
    if (!by_shard.contains(i)) parts.missing_shards.push_back(ShardText({i, count}));
  }
  return Report(std::move(parts));
}

Report MergeParts(const std::vector<NamedReport>& reports, const Shard& whole) {
  ReportParts parts = Merged(reports, ByShard(reports));
  if (whole.count > 1) parts.description.shard = whole;
  return Report(std::move(parts));
}

Shard PartOf(const Shard& shard, std::int64_t part, std::int64_t parts) {
  return {shard.index + part * shard.count, shard.count * parts};
}

}  // namespace kvexact
