// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/case/input_error.h"
#include "harness/case/schema.h"
#include "harness/case/strict_json.h"
#include "harness/report/json.h"
#include "harness/report/totals.h"

namespace kvexact {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostCount = std::int64_t{1} << 53;
constexpr std::size_t kMostText = 1 << 20;

// A value of the file and its path in it. Every access throws InputError where the value is not of the kind asked for.
class Node {
 public:
  Node(const Json& json, const std::string& source, std::string path)
      : json_(json), source_(source), path_(std::move(path)) {}

  [[noreturn]] void Fail(const std::string& what) const { throw InputError(source_, path_, what); }

  bool Has(const char* name) const { return json_.is_object() && json_.contains(name) && !json_.at(name).is_null(); }
  Node operator[](const char* name) const {
    if (!Has(name)) Fail(std::string("has no field ") + name);
    return {json_.at(name), source_, path_.empty() ? name : path_ + "." + name};
  }

  // Printable: it will be shown on a terminal.
  std::string text() const {
    if (!json_.is_string()) Fail("must be a string");
    return Printable(json_.get<std::string>(), kMostText);
  }
  std::int64_t count() const {
    if (!json_.is_number_integer()) Fail("must be an integer");
    const bool large = json_.is_number_unsigned() && json_.get<std::uint64_t>() > std::uint64_t{kMostCount};
    if (large || json_.get<std::int64_t>() < 0) Fail("must be a count from 0 to 2^53");
    return json_.get<std::int64_t>();
  }
  std::uint64_t seed() const {
    if (!json_.is_number_unsigned()) Fail("must be an integer from 0");
    return json_.get<std::uint64_t>();
  }
  double number() const {
    if (!json_.is_number()) Fail("must be a number");
    return json_.get<double>();
  }
  bool boolean() const {
    if (!json_.is_boolean()) Fail("must be true or false");
    return json_.get<bool>();
  }
  template <class Visit>
  void ForEach(const Visit& visit) const {
    if (!json_.is_array()) Fail("must be an array");
    std::size_t i = 0;
    for (const Json& item : json_) visit(Node(item, source_, path_ + "[" + std::to_string(i++) + "]"));
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    ForEach([&](const Node& node) { all.push_back(node.text()); });
    return all;
  }

  // The value of an enumeration with `values` names that is called so.
  template <class Enum>
  Enum one_of(int values) const {
    const std::string name = text();
    for (int i = 0; i < values; ++i) {
      if (name == NameOf(static_cast<Enum>(i))) return static_cast<Enum>(i);
    }
    Fail("is no known name: " + name);
  }
  spec::Operation operation() const {
    const std::optional<spec::Operation> op = schema::OperationNamed(text());
    if (!op) Fail("is no operation: " + text());
    return *op;
  }
  // The least number of rows of a window class.
  std::int64_t window() const {
    for (const std::int64_t rows : {0, 1, 9, 65}) {
      if (text() == WindowClass(rows)) return rows;
    }
    Fail("is no class of windows: " + text());
  }
  std::string runs() const {
    try {
      return CellsOf(text());
    } catch (const InputError& e) {
      Fail(e.what());
    }
  }

 private:
  const Json& json_;
  const std::string& source_;
  std::string path_;
};

Shard ReadShard(const Node& node) {
  const std::string text = node.text();
  const char* end = text.data() + text.size();
  Shard shard;
  const auto [slash, error] = std::from_chars(text.data(), end, shard.index);
  if (error == std::errc() && slash != end && *slash == '/') {
    const auto [rest, other] = std::from_chars(slash + 1, end, shard.count);
    if (other == std::errc() && rest == end && shard.index >= 0 && shard.index < shard.count) return shard;
  }
  node.Fail("must be I/N with 0 <= I < N");
}

RunDescription ReadDescription(const Node& root) {
  const Node run = root["run"];
  const Node subject = root["subject"];
  RunDescription d;
  d.command = run["command"].text();
  d.subject = subject["name"].text();
  d.version = subject["version"].text();
  d.device = subject["device"].text();
  d.policy = run["policy"].text();
  d.budget = run["budget"].text();
  d.require_all = run["require_all"].boolean();
  if (run.Has("seed")) d.seed = run["seed"].seed();
  if (run.Has("cases")) d.cases = run["cases"].count();
  if (run.Has("max_configs")) d.max_configs = run["max_configs"].count();
  if (run.Has("shard")) d.shard = ReadShard(run["shard"]);
  if (run.Has("operations")) d.operations = run["operations"].texts();
  return d;
}

ReportRow ReadRow(const Node& node) {
  ReportRow row{.op = node["operation"].operation(), .rows = WindowClass(node["window_rows"].window())};
  row.cases = node["cases"].count();
  row.tokens = node["tokens"].count();
  row.touched = node["touched_bytes"].count();
  row.unsupported = node["unsupported_cases"].count();
  row.errors = node["error_cases"].count();
  row.crashed = node["crashed_cases"].count();
  const Node kinds = node["kinds"];
  for (std::size_t k = 0; k < kElementKinds; ++k) {
    const char* name = NameOf(static_cast<ElementKind>(k));
    if (!kinds.Has(name)) continue;
    const Node kind = kinds[name];
    Tally& tally = row.tallies[k];
    tally.exact = kind["exact"].count();
    tally.allowed = kind["allowed"].count();
    tally.wrong = kind["wrong"].count();
    tally.unwritten = kind["unwritten"].count();
    tally.unjudged = kind["unjudged"].count();
    tally.single = kind["single_member_sets"].count();
    if (kind.Has("sum_width_ulp")) tally.width_ulp = kind["sum_width_ulp"].number();
    row.unstable[k] = kind["unstable"].count();
    row.differing[k] = kind["differing"].count();
    row.open_sets[k] = kind["multi_member_sets"].count();
    row.open_cases[k] = kind["multi_member_cases"].count();
    row.drifting_cases[k] = kind["drifting_cases"].count();
  }
  return row;
}

// Counts of a case, without the kinds that they belong to.
void ReadCounts(const Node& node, CaseResult& result) {
  Tally& tally = result.verdict.tallies[0];
  tally.wrong = node["wrong"].count();
  tally.unwritten = node["unwritten"].count();
  tally.exact = std::max<std::int64_t>(0, node["elements"].count() - tally.wrong - tally.unwritten);
  result.verdict.touched = node["touched_bytes"].count();
  result.unstable[0] = node["unstable"].count();
  result.status = node["status"].one_of<CaseStatus>(5);
}

Problem ReadProblem(const Node& node) {
  Problem p;
  p.what = node["what"].one_of<Problem::What>(4);
  p.buffer = node["buffer"].text();
  p.byte_offset = node["byte_offset"].count();
  if (node.Has("token")) {
    p.kind = node["kind"].one_of<ElementKind>(kElementKinds);
    p.token = node["token"].count();
    p.element = node["element"].count();
    if (node.Has("head")) p.head = node["head"].count();
  }
  p.observed = node["observed"].text();
  p.expected = node["expected"].text();
  p.allowed = node["allowed"].text();
  return p;
}

FailureMap ReadMap(const Node& node) {
  FailureMap map;
  std::int64_t elements = 0;
  node["sections"].ForEach([&](const Node& section) {
    map.sections.push_back({section["kind"].one_of<ElementKind>(kElementKinds), section["elements"].count()});
    if (map.sections.back().elements > kMaxCells - elements) section.Fail("has too many elements");
    elements += map.sections.back().elements;
  });
  node["rows"].ForEach([&](const Node& row) {
    if (map.rows.size() >= FailureMap::kMaxRows) row.Fail("is one row too many");
    map.rows.push_back({row["token"].count(), row.Has("head") ? row["head"].count() : -1, row["cells"].runs()});
    if (static_cast<std::int64_t>(map.rows.back().cells.size()) != elements) row.Fail("is not as long as the sections");
  });
  map.more_wrong_rows = node["more_wrong_rows"].count();
  map.right_rows = node["right_rows"].count();
  node["touched"].ForEach([&](const Node& range) {
    map.touched.push_back({range["buffer"].text(), range["begin"].count(), range["end"].count()});
  });
  map.more_touched_ranges = node["more_touched_ranges"].count();
  return map;
}

SmallFailure ReadShrunk(const Node& node) {
  SmallFailure small;
  small.result.name = node["case"].text();
  ReadCounts(node, small.result);
  small.tokens = node["tokens"].count();
  small.requests = node["requests"].count();
  small.trials = node["trials"].count();
  small.least = node["least"].boolean();
  small.repeat = node["repeat"].text();
  return small;
}

Failure ReadFailure(const Node& node) {
  Failure failure;
  failure.result.name = node["case"].text();
  failure.result.op = node["operation"].operation();
  failure.result.window_rows = node["window_rows"].window();
  failure.result.message = node["message"].text();
  ReadCounts(node, failure.result);
  node["problems"].ForEach(
      [&](const Node& problem) { failure.result.verdict.problems.push_back(ReadProblem(problem)); });
  failure.admitted_by = node["admitted_by"].texts();
  failure.repeat = node["repeat"].text();
  failure.studied = node["studied"].boolean();
  failure.stage = {node["first_wrong_stage"].text(), node["why"].text()};
  failure.suspects = node["suspects"].texts();
  if (node.Has("map")) failure.map = ReadMap(node["map"]);
  if (node.Has("shrunk")) failure.shrunk = ReadShrunk(node["shrunk"]);
  return failure;
}

void ReadRows(const Node& root, std::vector<ReportRow>& rows) {
  std::int64_t elements = 0;
  root["rows"].ForEach([&](const Node& node) {
    const std::size_t before = rows.size();
    const ReportRow row = ReadRow(node);
    AddRow(row, rows);
    if (rows.size() == before) node.Fail("is of an operation and a class of windows that another row is of");
    double sum = 0;
    for (const Tally& tally : row.tallies) {
      for (const std::int64_t count : {tally.exact, tally.allowed, tally.wrong, tally.unwritten, tally.unjudged}) {
        sum += static_cast<double>(count);
      }
    }
    if (sum > static_cast<double>(kMostCount - elements)) node.Fail("has too many elements: the report's pass 2^53");
    elements += row.total().elements();
  });
}

// What a reader of the file would take from it must follow from what this program reads.
void CheckAgreement(const Node& root, const Report& report) {
  if (static_cast<std::int64_t>(report.failures().size()) > report.failing_cases()) {
    root["failing_cases"].Fail("is less than the failures that are listed");
  }
  const ReportRow sum = report.total();
  const Tally all = sum.total();
  const Node total = root["total"];
  const std::pair<const char*, std::int64_t> counts[] = {
      {"cases", sum.cases}, {"elements", all.elements()}, {"exact", all.exact},          {"allowed", all.allowed},
      {"wrong", all.wrong}, {"unwritten", all.unwritten}, {"touched_bytes", sum.touched}};
  for (const auto& [name, count] : counts) {
    if (total[name].count() != count) total[name].Fail("is not the rows' sum, " + std::to_string(count));
  }
  if (root["verdict"].text() != NameOf(report.conclusion())) {
    root["verdict"].Fail(std::string("does not follow from the counts: ") + NameOf(report.conclusion()));
  }
  const bool fault = all.wrong + all.unwritten + sum.touched + sum.unstable_elements() + sum.errors + sum.crashed > 0;
  if (fault && report.failing_cases() == 0) root["failing_cases"].Fail("is 0, and the rows count faults");
}

}  // namespace

Report ReadReportJson(const std::string& text, const std::string& source) {
  const Json json = ParseJson(text, source);
  const Node root(json, source, "");
  if (!root.Has("schema") || root["schema"].text() != kReportSchema) {
    throw InputError(source, "schema", std::string("is not ") + kReportSchema);
  }
  ReportParts parts;
  parts.description = ReadDescription(root);
  const Node environment = root["environment"];
  parts.environment = {environment["kvexact"].text(), environment["git_revision"].text(),
                       environment["compiler"].text(), environment["build_type"].text()};
  parts.started = root["started"].text();
  parts.seconds = root["seconds"].number();
  if (!(parts.seconds >= 0)) root["seconds"].Fail("must not be below zero");
  ReadRows(root, parts.rows);
  root["failures"].ForEach([&](const Node& failure) { parts.failures.push_back(ReadFailure(failure)); });
  parts.failing_cases = root["failing_cases"].count();
  parts.unreadable = root["unreadable"].texts();
  parts.unreadable_cases = root["unreadable_cases"].count();
  root["unsupported"].ForEach(
      [&](const Node& item) { parts.unsupported[item["reason"].text()] += item["cases"].count(); });
  parts.merged_shards = root["merged_shards"].count();
  parts.missing_shards = root["missing_shards"].texts();
  Report report(std::move(parts));
  CheckAgreement(root, report);
  return report;
}

}  // namespace kvexact
