// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_cases.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "harness/run/in_order.h"
#include "harness/run/run_case.h"
#include "harness/run/shared_subject.h"

namespace kvexact {
namespace {

using JudgeCase = std::function<CaseResult(const Case&)>;

CaseResult LoadAndJudge(const CaseSource& source, std::int64_t i, const JudgeCase& judge) {
  CaseResult result;
  try {
    result = judge(source.load(i));
  } catch (const InputError& e) {
    result.status = CaseStatus::kUnreadable;
    result.message = e.what();
  }
  result.name = source.name(i);
  return result;
}

// How the subject ends belongs to the last case, where that has nothing else to say.
CaseResult WithEnd(CaseResult last, Backend& backend) {
  const RunOutcome end = backend.Close();
  if (end.status != RunStatus::kOk && last.right()) {
    last.status = CaseStatus::kCrashed;
    last.message = "closed after its last case: " + end.message;
  }
  return last;
}

void ForEachCase(const CaseSource& source, const RunLimits& limits, const JudgeCase& judge,
                 const ConsumeResult& consume) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::atomic<std::size_t> with_evidence = 0;  // of what was consumed
  InOrder<CaseResult>(
      source.count, limits.threads > 0 ? limits.threads : cores,
      [&](std::int64_t i) {
        CaseResult result = LoadAndJudge(source, i, judge);
        if (with_evidence >= limits.evidence) result.evidence.reset();
        return result;
      },
      [&](std::int64_t, CaseResult result) {
        if (result.evidence) ++with_evidence;
        consume(std::move(result));
      },
      [&] { return !limits.deadline || std::chrono::steady_clock::now() < *limits.deadline; });
}

}  // namespace

void RunCases(Backend& backend, const CaseSource& source, const JudgeOptions& options, const RunLimits& limits,
              const ConsumeResult& consume) {
  SharedSubject subject(backend);
  const auto judge = [&](const Case& c) {
    CaseTrial trial(c, *options.stages);
    subject.Run(trial);
    return trial.Judge(options);
  };
  std::optional<CaseResult> last;
  ForEachCase(source, limits, judge, [&](CaseResult result) {
    if (last) consume(std::move(*last));
    last = std::move(result);
  });
  if (last) consume(WithEnd(std::move(*last), backend));
}

void JudgeRecordings(const CaseSource& source, const JudgeOptions& options, const RunLimits& limits,
                     const ConsumeResult& consume) {
  CaseSource recorded = source;
  recorded.load = [&source](std::int64_t i) {
    Case c = source.load(i);
    if (!c.outputs_after) {
      throw InputError(source.name(i), c.outputs_before.begin()->first + "_after", "is missing: nothing was recorded");
    }
    return c;
  };
  ForEachCase(
      recorded, limits, [&](const Case& c) { return JudgeRecorded(c, options); }, consume);
}

}  // namespace kvexact
