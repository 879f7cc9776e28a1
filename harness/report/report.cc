// SPDX-License-Identifier: Apache-2.0
#include "harness/report/report.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "harness/report/build_info.h"
#include "harness/report/utc_now.h"
#include "harness/run/budgets.h"

namespace kvexact {
namespace {

constexpr std::int64_t kDriftSets = 100;
constexpr std::int64_t kDriftCases = 10;

// Adds what one case says about drift: of a case that is wrong, nothing, since its wrong elements differ too.
void AddDrift(const CaseResult& result, ReportRow& row) {
  if (!result.right()) return;
  for (int k = 0; k < kElementKinds; ++k) {
    const Tally& tally = result.verdict.tallies[k];
    // Allowed elements that do not differ in value hold the other zero of a set that has no other member.
    const std::int64_t other_zeros = std::max<std::int64_t>(tally.allowed - result.differing[k], 0);
    const std::int64_t open_sets = std::max<std::int64_t>(tally.judged() - tally.single - other_zeros, 0);
    row.differing[k] += result.differing[k];
    row.open_sets[k] += open_sets;
    if (open_sets > 0) ++row.open_cases[k];
    if (open_sets > 0 && 2 * result.differing[k] > open_sets) ++row.drifting_cases[k];
  }
}

// For the order of the rows: "-" and "1-8" before "9-64" before "65-1024".
std::size_t WindowRank(const std::string& rows) { return rows.size(); }

ReportRow& RowIn(std::vector<ReportRow>& rows, spec::Operation op, const std::string& window) {
  const auto key = [](const ReportRow& row) { return std::make_tuple(row.op, WindowRank(row.rows)); };
  ReportRow row{.op = op, .rows = window};
  const auto place = std::lower_bound(rows.begin(), rows.end(), row,
                                      [&](const ReportRow& a, const ReportRow& b) { return key(a) < key(b); });
  if (place != rows.end() && key(*place) == key(row)) return *place;
  return *rows.insert(place, std::move(row));
}

// Of a case that was judged: under which other budgets it would be right, and where it is wrong.
void Study(const JudgeOptions& options, Failure& failure) {
  const CaseResult& result = failure.result;
  failure.studied = true;
  if (!result.evidence) return;
  const Tally total = result.verdict.total();
  if (total.wrong > 0 && total.unwritten == 0) failure.admitted_by = AdmittingBudgets(*result.evidence, options);
  failure.map = MapOf(*result.evidence, options, result);
  failure.stage = FirstWrongStage(*result.evidence, options, *failure.map);
}

}  // namespace

Environment ThisEnvironment() {
  const BuildInfo& build = ThisBuild();
  return {build.version, build.git_revision, build.compiler, build.build_type};
}

std::string WindowClass(std::int64_t window_rows) {
  if (window_rows == 0) return "-";
  if (window_rows <= 8) return "1-8";
  return window_rows <= 64 ? "9-64" : "65-1024";
}

void AddRow(const ReportRow& row, std::vector<ReportRow>& rows) { RowIn(rows, row.op, row.rows) += row; }

Tally ReportRow::total() const {
  Tally sum;
  for (const Tally& tally : tallies) sum += tally;
  return sum;
}

std::int64_t ReportRow::unstable_elements() const {
  return std::accumulate(unstable.begin(), unstable.end(), std::int64_t{0});
}

ReportRow& ReportRow::operator+=(const ReportRow& other) {
  cases += other.cases;
  tokens += other.tokens;
  for (int k = 0; k < kElementKinds; ++k) {
    tallies[k] += other.tallies[k];
    unstable[k] += other.unstable[k];
    differing[k] += other.differing[k];
    open_sets[k] += other.open_sets[k];
    open_cases[k] += other.open_cases[k];
    drifting_cases[k] += other.drifting_cases[k];
  }
  touched += other.touched;
  unsupported += other.unsupported;
  errors += other.errors;
  crashed += other.crashed;
  return *this;
}

const char* NameOf(Conclusion conclusion) {
  static constexpr const char* kNames[] = {"right", "wrong", "none", "error"};
  return kNames[static_cast<int>(conclusion)];
}

Report::Report(RunDescription description, std::function<std::string(const std::string&)> repeat)
    : repeat_(std::move(repeat)) {
  parts_.description = std::move(description);
  parts_.environment = ThisEnvironment();
  parts_.started = UtcNow();
}

Report::Report(ReportParts parts) : parts_(std::move(parts)) {}

void Report::SetShrunk(std::size_t i, const Shrunk& shrunk) {
  SmallFailure small{.result = shrunk.result,
                     .tokens = TokensOf(shrunk.spec),
                     .requests = RequestsOf(shrunk.spec),
                     .trials = shrunk.trials,
                     .least = shrunk.least,
                     .repeat = repeat_(shrunk.result.name)};
  small.result.evidence.reset();
  parts_.failures[i].shrunk = std::move(small);
}

void Report::SetSuspects(std::size_t i, std::vector<std::string> suspects, const WrongStage& stage) {
  parts_.failures[i].suspects = std::move(suspects);
  if (!stage.stage.empty()) parts_.failures[i].stage = stage;
}

void Report::Finish() {
  for (Failure& failure : parts_.failures) failure.result.evidence.reset();
  parts_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

ReportRow& Report::RowOf(const CaseResult& result) {
  return RowIn(parts_.rows, *result.op, WindowClass(result.window_rows));
}

void Report::AddFailure(const CaseResult& result, const JudgeOptions& options) {
  ++parts_.failing_cases;
  if (parts_.failures.size() >= kMaxFailures) return;
  Failure failure;
  failure.result = result;
  failure.repeat = repeat_(result.name);
  std::vector<Problem>& problems = failure.result.verdict.problems;
  if (parts_.failures.size() < kMaxStudied) {
    Study(options, failure);
  } else if (problems.size() > kMaxProblemsListed) {
    problems.resize(kMaxProblemsListed);
  }
  if (parts_.failures.size() >= kMaxEvidence) failure.result.evidence.reset();
  parts_.failures.push_back(std::move(failure));
}

void Report::Add(const CaseResult& result, const JudgeOptions& options) {
  if (result.status == CaseStatus::kUnreadable) {
    ++parts_.unreadable_cases;
    if (parts_.unreadable.size() < kMaxUnreadable) parts_.unreadable.push_back(result.message);
    return;
  }
  ReportRow& row = RowOf(result);
  ++row.cases;
  row.tokens += result.verdict.tokens;
  for (int k = 0; k < kElementKinds; ++k) {
    row.tallies[k] += result.verdict.tallies[k];
    row.unstable[k] += result.unstable[k];
  }
  AddDrift(result, row);
  row.touched += result.verdict.touched;
  if (result.status == CaseStatus::kUnsupported) {
    ++row.unsupported;
    ++parts_.unsupported[result.message];
  }
  if (result.status == CaseStatus::kError) ++row.errors;
  if (result.status == CaseStatus::kCrashed) ++row.crashed;
  if (!result.right()) AddFailure(result, options);
}

ReportRow Report::total() const {
  ReportRow sum;
  for (const ReportRow& row : parts_.rows) sum += row;
  return sum;
}

std::vector<Drift> Report::drift() const {
  std::vector<Drift> found;
  for (const ReportRow& row : parts_.rows) {
    for (const ElementKind kind : {ElementKind::kCode, ElementKind::kScale, ElementKind::kBf16}) {
      const auto k = static_cast<std::size_t>(kind);
      const bool enough = row.open_sets[k] >= kDriftSets && row.open_cases[k] >= kDriftCases;
      if (enough && 2 * row.differing[k] > row.open_sets[k] && 2 * row.drifting_cases[k] > row.open_cases[k]) {
        found.push_back(
            {row.op, row.rows, kind, row.differing[k], row.open_sets[k], row.drifting_cases[k], row.open_cases[k]});
      }
    }
  }
  return found;
}

std::vector<std::string> Report::missing_operations() const {
  std::vector<std::string> missing;
  for (const std::string& name : parts_.description.operations) {
    const bool judged = std::any_of(parts_.rows.begin(), parts_.rows.end(), [&](const ReportRow& row) {
      return name == spec::row(row.op).name && row.total().judged() > 0;
    });
    if (!judged) missing.push_back(name);
  }
  return missing;
}

Conclusion Report::conclusion() const {
  if (parts_.failing_cases > 0) return Conclusion::kWrong;
  if (parts_.unreadable_cases > 0) return Conclusion::kError;
  if (!parts_.missing_shards.empty()) return Conclusion::kNone;
  const ReportRow sum = total();
  if (sum.total().judged() == 0) return Conclusion::kNone;
  if (parts_.description.require_all && (sum.unsupported > 0 || !missing_operations().empty()))
    return Conclusion::kNone;
  return Conclusion::kRight;
}

int Report::exit_status() const {
  switch (conclusion()) {
    case Conclusion::kRight:
      return 0;
    case Conclusion::kWrong:
      return 1;
    case Conclusion::kError:
      return 2;
    case Conclusion::kNone:
      return 3;
  }
  return 4;
}

std::optional<double> Tightness(const Tally& tally) {
  if (tally.judged() == 0) return std::nullopt;
  return 100.0 * static_cast<double>(tally.single) / static_cast<double>(tally.judged());
}

std::optional<double> PooledTightness(const ReportRow& row) {
  Tally pooled;
  for (int k = 0; k < kElementKinds; ++k) {
    if (static_cast<ElementKind>(k) != ElementKind::kFp32) pooled += row.tallies[k];
  }
  return Tightness(pooled);
}

std::optional<double> MeanWidth(const Tally& tally) {
  if (tally.judged() == 0) return std::nullopt;
  return tally.width_ulp / static_cast<double>(tally.judged());
}

}  // namespace kvexact
