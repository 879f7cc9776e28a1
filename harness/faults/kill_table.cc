// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/kill_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "harness/generate/generate.h"
#include "harness/run/in_order.h"
#include "harness/run/run_case.h"
#include "harness/run/shared_subject.h"

namespace kvexact {

std::string VerdictText(const CaseResult& result) {
  if (result.status != CaseStatus::kJudged) return NameOf(result.status);
  std::string text;
  const auto add = [&](std::int64_t count, const std::string& what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  for (int k = 0; k < kElementKinds; ++k) {
    const auto kind = static_cast<ElementKind>(k);
    add(result.verdict.tally(kind).wrong, fmt::format("{} wrong", NameOf(kind)));
    add(result.verdict.tally(kind).unwritten, fmt::format("{} unwritten", NameOf(kind)));
    add(result.unstable[static_cast<std::size_t>(k)], fmt::format("{} unstable", NameOf(kind)));
  }
  add(result.verdict.touched, "bytes touched");
  return text;
}

Kill FindKill(Backend& subject, const KillSettings& settings) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Kill kill;
  std::atomic<bool> going = true;
  SharedSubject shared(subject);
  InOrder<CaseResult>(
      settings.cases, settings.threads > 0 ? settings.threads : cores,
      [&](std::int64_t i) {
        const Case c = Generate(Draw(settings.draw, static_cast<std::uint64_t>(i)));
        CaseTrial trial(c, *settings.judge.stages);
        shared.Run(trial);
        return trial.Judge(settings.judge);
      },
      [&](std::int64_t i, const CaseResult& result) {
        if (!going) return;
        kill.cases = i + 1;
        kill.seconds = elapsed();
        going = result.right() && kill.seconds < settings.seconds;
        if (result.right()) return;
        kill.killed = true;
        kill.spec = result.name;
        kill.verdict = VerdictText(result);
      },
      [&] { return going.load(); });
  return kill;
}

}  // namespace kvexact
