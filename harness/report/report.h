// SPDX-License-Identifier: Apache-2.0
// What a run found, as one value that every printer reads.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/judge.h"
#include "harness/report/failure_map.h"
#include "harness/report/wrong_stage.h"
#include "harness/run/case_result.h"
#include "harness/run/case_source.h"
#include "harness/run/shrink.h"

namespace kvexact {

// What was asked for.
struct RunDescription {
  std::string command;  // verify, replay, selftest, diagnose
  std::string subject;  // name of the backend, or "recorded"
  std::string version;  // of the subject; empty if it has none
  std::string device;
  std::string policy;
  std::string budget;
  std::optional<std::uint64_t> seed;  // of drawn cases
  std::optional<std::int64_t> cases;  // of the whole run, over all shards; nothing if time alone ends it
  std::optional<std::int64_t> max_configs;
  std::optional<Shard> shard;
  std::vector<std::string> operations;  // asked for by name
  bool require_all = false;             // every case must be judged, and every operation that was asked for
};

// The program that ran.
struct Environment {
  std::string version;
  std::string git_revision;  // "unknown" outside a checkout; ends with "+" if files differed from it
  std::string compiler;
  std::string build_type;
  bool operator==(const Environment&) const = default;
};
Environment ThisEnvironment();

// Sums over the cases of one operation whose windows have a similar number of rows.
struct ReportRow {
  spec::Operation op{};
  std::string rows;  // "1-8", "9-64", "65-1024"; "-" where nothing is gathered
  std::int64_t cases = 0;
  std::int64_t tokens = 0;
  std::array<Tally, kElementKinds> tallies{};
  std::array<std::int64_t, kElementKinds> unstable{};
  // For drift, by kind: elements that differ in value from the strict model; sets with several members, other signs of
  // a zero apart; cases with such sets, and those of them in which more than half of them differ.
  std::array<std::int64_t, kElementKinds> differing{};
  std::array<std::int64_t, kElementKinds> open_sets{};
  std::array<std::int64_t, kElementKinds> open_cases{};
  std::array<std::int64_t, kElementKinds> drifting_cases{};
  std::int64_t touched = 0;
  std::int64_t unsupported = 0;
  std::int64_t errors = 0;
  std::int64_t crashed = 0;

  Tally total() const;
  std::int64_t unstable_elements() const;
  ReportRow& operator+=(const ReportRow& other);  // sums; keeps op and rows
};

// The smallest case found that fails as another does.
struct SmallFailure {
  CaseResult result;  // without evidence
  std::int64_t tokens = 0;
  std::int64_t requests = 0;
  std::int64_t trials = 0;  // cases that were run to find it
  bool least = false;       // nothing simpler fails; false: a limit ended the search
  std::string repeat;       // a command that runs it
};

// One case that the subject got wrong. Only the first kMaxStudied of a run have what is below the line.
struct Failure {
  CaseResult result;   // of a finished report without evidence; with at most kMaxProblemsListed problems below the line
  std::string repeat;  // a command that runs this case again
  std::optional<SmallFailure> shrunk;
  // ----
  bool studied = false;
  std::vector<std::string> admitted_by;  // other named budgets that hold every element
  std::optional<FailureMap> map;         // of judged cases
  WrongStage stage;
  std::vector<std::string> suspects;  // known faults that explain it equally well, "NAME: what it does"
};

// More elements of one kind differ from the strict model than honest rounding explains.
struct Drift {
  spec::Operation op{};
  std::string rows;
  ElementKind kind{};
  std::int64_t differing = 0;  // elements
  std::int64_t open_sets = 0;  // allowed sets of more than one member
  std::int64_t drifting_cases = 0;
  std::int64_t open_cases = 0;
};

enum class Conclusion : std::uint8_t { kRight, kWrong, kNone, kError };
const char* NameOf(Conclusion conclusion);

// Everything that a report holds.
struct ReportParts {
  RunDescription description;
  Environment environment;
  std::string started;          // UTC, "2026-01-31T12:00:00Z"
  double seconds = 0;           // of wall clock; merged: the sum
  std::vector<ReportRow> rows;  // by operation, then window
  std::vector<Failure> failures;
  std::int64_t failing_cases = 0;
  std::vector<std::string> unreadable;
  std::int64_t unreadable_cases = 0;
  std::map<std::string, std::int64_t> unsupported;  // cases by reason
  std::vector<std::string> missing_shards;          // "I/N", of a merged report
  std::int64_t merged_shards = 0;                   // 0: one run's own report
};

class Report {
 public:
  static constexpr std::size_t kMaxFailures = 1000;
  static constexpr std::size_t kMaxStudied = 20;
  static constexpr std::size_t kMaxProblemsListed = 2;
  static constexpr std::size_t kMaxEvidence = 8;
  static constexpr std::size_t kMaxUnreadable = 100;

  // `repeat` gives the command for a result's name.
  Report(RunDescription description, std::function<std::string(const std::string&)> repeat);
  explicit Report(ReportParts parts);

  // Results are added in order. Judges evidence of the failures that are studied under the other named budgets; the
  // first kMaxEvidence failures keep theirs until Finish.
  void Add(const CaseResult& result, const JudgeOptions& options);
  // What failure i of failures() was shrunk to.
  void SetShrunk(std::size_t i, const Shrunk& shrunk);
  // Which known faults explain failure i equally well, and the stage where they are, if it is named.
  void SetSuspects(std::size_t i, std::vector<std::string> suspects, const WrongStage& stage);
  // The run is over: its time is what passed since the report was made.
  void Finish();

  const ReportParts& parts() const { return parts_; }
  const RunDescription& description() const { return parts_.description; }
  const std::vector<ReportRow>& rows() const { return parts_.rows; }
  ReportRow total() const;
  const std::vector<Failure>& failures() const { return parts_.failures; }  // the first kMaxFailures
  std::int64_t failing_cases() const { return parts_.failing_cases; }
  const std::vector<std::string>& unreadable() const { return parts_.unreadable; }  // the first kMaxUnreadable
  std::int64_t unreadable_cases() const { return parts_.unreadable_cases; }
  const std::map<std::string, std::int64_t>& unsupported() const { return parts_.unsupported; }

  // Operations and kinds for which at least 100 sets in at least 10 cases have more than one member, and in more than
  // half of these cases, as over all of them, more than half of these elements differ from the strict model. Cases
  // count since one decision (a scale, a norm that overflows) moves many elements of a case. Only codes, scales and
  // bf16 values: of fp32 values and folded weights, where every rounding shows, half may differ honestly.
  std::vector<Drift> drift() const;

  // Asked-for operations of which nothing was judged.
  std::vector<std::string> missing_operations() const;

  // A fault of the subject comes first, then unreadable input, then a run that judged nothing or less than required
  // (a merged one: of which shards are missing).
  Conclusion conclusion() const;
  int exit_status() const;  // 0 right, 1 wrong, 2 unreadable input, 3 none

 private:
  ReportRow& RowOf(const CaseResult& result);
  void AddFailure(const CaseResult& result, const JudgeOptions& options);

  ReportParts parts_;
  std::function<std::string(const std::string&)> repeat_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// "1-8", "9-64", "65-1024" rows of a window; "-" for 0.
std::string WindowClass(std::int64_t window_rows);

// Adds `row` to the one of the same operation and window, or inserts it in its place.
void AddRow(const ReportRow& row, std::vector<ReportRow>& rows);

// Share of single-member sets among the judged elements of one kind, in percent; nothing if none was judged.
std::optional<double> Tightness(const Tally& tally);
// The same over every kind but fp32, whose sets are intervals.
std::optional<double> PooledTightness(const ReportRow& row);
// Mean width of the fp32 sets, in steps between neighbouring values.
std::optional<double> MeanWidth(const Tally& tally);

}  // namespace kvexact
