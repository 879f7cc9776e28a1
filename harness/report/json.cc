// SPDX-License-Identifier: Apache-2.0
#include "harness/report/json.h"

#include <nlohmann/json.hpp>

#include "harness/report/totals.h"

namespace kvexact {
namespace {

using Json = nlohmann::ordered_json;

Json NumberOrNull(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json TallyJson(const ReportRow& row, ElementKind kind) {
  const auto k = static_cast<std::size_t>(kind);
  const Tally& tally = row.tallies[k];
  Json json = {{"elements", tally.elements()},
               {"exact", tally.exact},
               {"allowed", tally.allowed},
               {"wrong", tally.wrong},
               {"unwritten", tally.unwritten},
               {"unjudged", tally.unjudged},
               {"unstable", row.unstable[k]},
               {"single_member_sets", tally.single},
               {"differing", row.differing[k]},
               {"multi_member_sets", row.open_sets[k]},
               {"multi_member_cases", row.open_cases[k]},
               {"drifting_cases", row.drifting_cases[k]},
               {"tightness_percent", NumberOrNull(Tightness(tally))}};
  if (kind == ElementKind::kFp32) {
    json["sum_width_ulp"] = tally.width_ulp;
    json["mean_width_ulp"] = NumberOrNull(MeanWidth(tally));
  }
  return json;
}

Json CountsJson(const ReportRow& row) {
  const Tally sum = row.total();
  Json kinds = Json::object();
  for (int k = 0; k < kElementKinds; ++k) {
    if (row.tallies[k].elements() == 0) continue;
    const auto kind = static_cast<ElementKind>(k);
    kinds[NameOf(kind)] = TallyJson(row, kind);
  }
  return {{"cases", row.cases},
          {"tokens", row.tokens},
          {"elements", sum.elements()},
          {"exact", sum.exact},
          {"allowed", sum.allowed},
          {"wrong", sum.wrong},
          {"touched_bytes", row.touched},
          {"unwritten", sum.unwritten},
          {"unstable", row.unstable_elements()},
          {"unjudged", sum.unjudged},
          {"unsupported_cases", row.unsupported},
          {"error_cases", row.errors},
          {"crashed_cases", row.crashed},
          {"tightness_percent", NumberOrNull(PooledTightness(row))},
          {"kinds", std::move(kinds)}};
}

Json RunJson(const RunDescription& d) {
  Json json = {{"command", d.command}, {"policy", d.policy}, {"budget", d.budget}, {"require_all", d.require_all}};
  if (d.seed) json["seed"] = *d.seed;
  if (d.max_configs) json["max_configs"] = *d.max_configs;
  if (d.cases) json["cases"] = *d.cases;
  if (d.shard) json["shard"] = ShardText(*d.shard);
  if (!d.operations.empty()) json["operations"] = d.operations;
  return json;
}

Json ProblemJson(const Problem& p) {
  Json json = {{"what", NameOf(p.what)}, {"buffer", p.buffer}, {"byte_offset", p.byte_offset}};
  if (p.token >= 0) {
    json["kind"] = NameOf(p.kind);
    json["token"] = p.token;
    if (p.head >= 0) json["head"] = p.head;
    json["element"] = p.element;
  }
  json["observed"] = p.observed;
  json["expected"] = p.expected;
  json["allowed"] = p.allowed;
  return json;
}

Json ShrunkJson(const SmallFailure& small) {
  const Tally sum = small.result.verdict.total();
  return {{"case", small.result.name},
          {"tokens", small.tokens},
          {"requests", small.requests},
          {"trials", small.trials},
          {"least", small.least},
          {"status", NameOf(small.result.status)},
          {"elements", sum.elements()},
          {"wrong", sum.wrong},
          {"unwritten", sum.unwritten},
          {"touched_bytes", small.result.verdict.touched},
          {"unstable", small.result.unstable_elements()},
          {"repeat", small.repeat}};
}

Json MapJson(const FailureMap& map) {
  Json sections = Json::array();
  for (const MapSection& section : map.sections) {
    sections.push_back({{"kind", NameOf(section.kind)}, {"elements", section.elements}});
  }
  Json rows = Json::array();
  for (const MapRow& row : map.rows) {
    Json json = {{"token", row.token}, {"cells", RunsOf(row.cells)}};
    if (row.head >= 0) json["head"] = row.head;
    rows.push_back(std::move(json));
  }
  Json touched = Json::array();
  for (const TouchedRange& range : map.touched) {
    touched.push_back({{"buffer", range.buffer}, {"begin", range.begin}, {"end", range.end}});
  }
  return {{"sections", std::move(sections)},        {"rows", std::move(rows)},
          {"more_wrong_rows", map.more_wrong_rows}, {"right_rows", map.right_rows},
          {"touched", std::move(touched)},          {"more_touched_ranges", map.more_touched_ranges}};
}

Json FailureJson(const Failure& failure) {
  const CaseResult& result = failure.result;
  const Tally sum = result.verdict.total();
  Json problems = Json::array();
  for (const Problem& problem : result.verdict.problems) problems.push_back(ProblemJson(problem));
  return {{"case", result.name},
          {"operation", result.op ? spec::row(*result.op).name : ""},
          {"status", NameOf(result.status)},
          {"message", result.message},
          {"window_rows", WindowClass(result.window_rows)},
          {"elements", sum.elements()},
          {"wrong", sum.wrong},
          {"unwritten", sum.unwritten},
          {"touched_bytes", result.verdict.touched},
          {"unstable", result.unstable_elements()},
          {"problems", std::move(problems)},
          {"admitted_by", failure.admitted_by},
          {"repeat", failure.repeat},
          {"studied", failure.studied},
          {"first_wrong_stage", failure.stage.stage},
          {"why", failure.stage.why},
          {"suspects", failure.suspects},
          {"map", failure.map ? MapJson(*failure.map) : Json(nullptr)},
          {"shrunk", failure.shrunk ? ShrunkJson(*failure.shrunk) : Json(nullptr)}};
}

}  // namespace

std::string ReportJson(const Report& report) {
  const RunDescription& d = report.description();
  const Environment& build = report.parts().environment;
  Json rows = Json::array();
  for (const ReportRow& row : report.rows()) {
    Json json = {{"operation", spec::row(row.op).name}, {"window_rows", row.rows}};
    json.update(CountsJson(row));
    rows.push_back(std::move(json));
  }
  Json drift = Json::array();
  for (const Drift& found : report.drift()) {
    drift.push_back({{"operation", spec::row(found.op).name},
                     {"window_rows", found.rows},
                     {"kind", NameOf(found.kind)},
                     {"differing", found.differing},
                     {"multi_member_sets", found.open_sets},
                     {"drifting_cases", found.drifting_cases},
                     {"cases", found.open_cases}});
  }
  Json failures = Json::array();
  for (const Failure& failure : report.failures()) failures.push_back(FailureJson(failure));
  Json unsupported = Json::array();
  for (const auto& [reason, cases] : report.unsupported())
    unsupported.push_back({{"reason", reason}, {"cases", cases}});

  const Json json = {{"schema", kReportSchema},
                     {"verdict", NameOf(report.conclusion())},
                     {"exit_status", report.exit_status()},
                     {"run", RunJson(d)},
                     {"started", report.parts().started},
                     {"seconds", report.parts().seconds},
                     {"subject", {{"name", d.subject}, {"version", d.version}, {"device", d.device}}},
                     {"environment",
                      {{"kvexact", build.version},
                       {"git_revision", build.git_revision},
                       {"compiler", build.compiler},
                       {"build_type", build.build_type}}},
                     {"total", CountsJson(report.total())},
                     {"rows", std::move(rows)},
                     {"drift", std::move(drift)},
                     {"failing_cases", report.failing_cases()},
                     {"failures", std::move(failures)},
                     {"unreadable_cases", report.unreadable_cases()},
                     {"unreadable", report.unreadable()},
                     {"unsupported", std::move(unsupported)},
                     {"missing_operations", report.missing_operations()},
                     {"merged_shards", report.parts().merged_shards},
                     {"missing_shards", report.parts().missing_shards}};
  // Messages of a subject may hold any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvexact
