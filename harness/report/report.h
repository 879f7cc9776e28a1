// SPDX-License-Identifier: Apache-2.0
// What a run found, as one value that every printer reads.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/judge.h"
#include "harness/run/case_result.h"

namespace kvexact {

// What was asked for.
struct RunDescription {
  std::string command;  // verify, replay, selftest
  std::string subject;  // name of the backend, or "recorded"
  std::string version;  // of the subject; empty if it has none
  std::string device;
  std::string policy;
  std::string budget;
  std::optional<std::uint64_t> seed;  // of drawn cases
  std::optional<std::int64_t> max_configs;
  std::optional<std::string> shard;     // "I/N"
  std::vector<std::string> operations;  // asked for by name
  bool require_all = false;             // every case must be judged, and every operation that was asked for
};

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

// One case that the subject got wrong.
struct Failure {
  CaseResult result;                     // without evidence
  std::vector<std::string> admitted_by;  // other named budgets that hold every element
  std::string repeat;                    // a command that runs this case again
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

class Report {
 public:
  static constexpr std::size_t kMaxFailures = 20;
  static constexpr std::size_t kMaxUnreadable = 100;

  // `repeat` gives the command for a result's name.
  Report(RunDescription description, std::function<std::string(const std::string&)> repeat);

  // Results are added in order. Judges evidence of the failures that are kept under the other named budgets.
  void Add(const CaseResult& result, const JudgeOptions& options);

  const RunDescription& description() const { return description_; }
  const std::vector<ReportRow>& rows() const { return rows_; }  // by operation, then window
  ReportRow total() const;
  const std::vector<Failure>& failures() const { return failures_; }  // the first kMaxFailures
  std::int64_t failing_cases() const { return failing_cases_; }
  const std::vector<std::string>& unreadable() const { return unreadable_; }  // the first kMaxUnreadable
  std::int64_t unreadable_cases() const { return unreadable_cases_; }
  const std::map<std::string, std::int64_t>& unsupported() const { return unsupported_; }  // cases by reason

  // Operations and kinds for which at least 100 sets in at least 10 cases have more than one member, and in more than
  // half of these cases, as over all of them, more than half of these elements differ from the strict model. Cases
  // count since one decision (a scale, a norm that overflows) moves many elements of a case. Only codes, scales and
  // bf16 values: of fp32 values and folded weights, where every rounding shows, half may differ honestly.
  std::vector<Drift> drift() const;

  // Asked-for operations of which nothing was judged.
  std::vector<std::string> missing_operations() const;

  // A fault of the subject comes first, then unreadable input, then a run that judged nothing or less than required.
  Conclusion conclusion() const;
  int exit_status() const;  // 0 right, 1 wrong, 2 unreadable input, 3 none

 private:
  ReportRow& RowOf(const CaseResult& result);

  RunDescription description_;
  std::function<std::string(const std::string&)> repeat_;
  std::vector<ReportRow> rows_;
  std::vector<Failure> failures_;
  std::int64_t failing_cases_ = 0;
  std::vector<std::string> unreadable_;
  std::int64_t unreadable_cases_ = 0;
  std::map<std::string, std::int64_t> unsupported_;
};

// Share of single-member sets among the judged elements of one kind, in percent; nothing if none was judged.
std::optional<double> Tightness(const Tally& tally);
// The same over every kind but fp32, whose sets are intervals.
std::optional<double> PooledTightness(const ReportRow& row);
// Mean width of the fp32 sets, in steps between neighbouring values.
std::optional<double> MeanWidth(const Tally& tally);

}  // namespace kvexact
