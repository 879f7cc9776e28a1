// SPDX-License-Identifier: Apache-2.0
// A library that misbehaves costs one case: what is said of it, and that the next case runs.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "harness/backend/library_backend.h"
#include "property_tests/backend/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;

std::string PathOf(const std::string& name) { return std::string(KVEXACT_TEST_LIBRARIES) + "/" + name + ".so"; }

Case QCase(std::int64_t tokens) { return IndexerQCase(Operation::kIndexerQFp8, tokens, 5, DType::kF32, DType::kF32); }

RunOutcome RunOnce(Backend& backend, const Case& c) {
  TensorMap outputs = c.outputs_before;
  return backend.Run(c, outputs);
}

// Two runs: the second shows that there is a fresh worker.
std::string CrashOf(const std::string& name, const BackendOptions& options = {}) {
  const auto backend = OpenLibraryBackend(PathOf(name), options);
  const RunOutcome first = RunOnce(*backend, QCase(3));
  EXPECT_EQ(first.status, RunStatus::kCrashed) << first.message;
  const RunOutcome second = RunOnce(*backend, QCase(3));
  EXPECT_EQ(second.status, RunStatus::kCrashed);
  EXPECT_EQ(second.message, first.message);
  return first.message;
}

TEST(Isolation, CrashNamesSignalAndAddress) {
  EXPECT_EQ(CrashOf("crashes"),
            "the worker process was killed by signal 11 (SIGSEGV) in run: accessed the address 0x0000000000000010");
}

TEST(Isolation, AbortNamesSignalAndKeepsStandardError) {
  EXPECT_EQ(
      CrashOf("aborts"),
      "the worker process was killed by signal 6 (SIGABRT) in run; its output ended: first line | assertion failed: "
      "tile % 4 == 0");
}

TEST(Isolation, ExitInTheMiddle) {
  EXPECT_EQ(CrashOf("exits"), "the worker process exited with status 3 in run; its output ended: leaving");
}

TEST(Isolation, ChildThatHoldsTheChannelIsNotWaitedFor) {
  EXPECT_EQ(CrashOf("leaves_child"), "the worker process exited with status 3 in run");
}

TEST(Isolation, ForkedProcessDoesNotAnswer) {
  const auto backend = OpenLibraryBackend(PathOf("forks"));
  const Case c = QCase(3);
  for (int run = 0; run < 3; ++run) {
    TensorMap outputs = c.outputs_before;
    outputs.at("q_fp8").bytes()[0] = 0;
    const RunOutcome outcome = backend->Run(c, outputs);
    EXPECT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
    EXPECT_EQ(outputs.at("q_fp8").bytes()[0], 7) << run;
  }
}

TEST(Isolation, EndOfTheHandleIsLookedAt) {
  const auto end_of = [](const std::string& name, const BackendOptions& options) {
    const auto backend = OpenLibraryBackend(PathOf(name), options);
    EXPECT_EQ(RunOnce(*backend, QCase(3)).status, RunStatus::kOk);
    const RunOutcome end = backend->Close();
    EXPECT_EQ(RunOnce(*backend, QCase(3)).status, RunStatus::kOk) << name;
    return end;
  };
  EXPECT_EQ(end_of("working", {}).status, RunStatus::kOk);
  RunOutcome end = end_of("aborts_on_destroy", {});
  EXPECT_EQ(end.status, RunStatus::kCrashed);
  EXPECT_EQ(end.message, "the worker process was killed by signal 6 (SIGABRT) in destroy");
  // Long enough for a run on a busy machine.
  end = end_of("hangs_on_destroy", {.timeout_seconds = 2});
  EXPECT_EQ(end.status, RunStatus::kCrashed);
  EXPECT_EQ(end.message, "the worker process gave no answer within 2 s in destroy and was ended");
}

TEST(Isolation, HangIsEndedAfterTheTimeOut) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(CrashOf("hangs", {.timeout_seconds = 0.5}),
            "the worker process gave no answer within 0.5 s in run and was ended");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(Isolation, AccessBehindABufferNamesTheBuffer) {
  EXPECT_EQ(
      CrashOf("writes_far_behind"),
      "the worker process was killed by signal 11 (SIGSEGV) in run: accessed weights_out 4096 bytes behind its end");
  // 3 * 5 * 128 * 2 bytes are a multiple of the alignment: the first byte behind them is out of reach.
  EXPECT_EQ(CrashOf("reads_behind"),
            "the worker process was killed by signal 11 (SIGSEGV) in run: accessed index_q 0 bytes behind its end");
}

TEST(Isolation, ChangedBytesBesideABufferAreNamed) {
  // 3 * 5 * 4 bytes end 4 bytes before a multiple of the alignment.
  RunOutcome outcome = RunOnce(*OpenLibraryBackend(PathOf("writes_behind")), QCase(3));
  EXPECT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
  EXPECT_EQ(outcome.damaged_guards, std::vector<std::string>{"weights_out (1 bytes behind its end)"});
  outcome = RunOnce(*OpenLibraryBackend(PathOf("writes_before")), QCase(3));
  EXPECT_EQ(outcome.damaged_guards, std::vector<std::string>{"weights_out (3 bytes before its start)"});
}

TEST(Isolation, WellBehavedLibraryDamagesNothing) {
  const RunOutcome outcome = RunOnce(*OpenLibraryBackend(PathOf("working")), QCase(3));
  EXPECT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
  EXPECT_TRUE(outcome.damaged_guards.empty());
  EXPECT_TRUE(outcome.written_inputs.empty());
}

TEST(Isolation, CasesBetweenCrashesRun) {
  const auto backend = OpenLibraryBackend(PathOf("crashes_on_odd"));
  for (std::int64_t tokens = 0; tokens < 6; ++tokens) {
    const RunOutcome outcome = RunOnce(*backend, QCase(tokens));
    EXPECT_EQ(outcome.status, tokens % 2 == 1 ? RunStatus::kCrashed : RunStatus::kOk) << tokens << outcome.message;
  }
}

TEST(Isolation, LargeCaseAfterSmallOnes) {
  const auto backend = OpenLibraryBackend(PathOf("working"));
  EXPECT_EQ(RunOnce(*backend, QCase(1)).status, RunStatus::kOk);
  const RunOutcome outcome = RunOnce(*backend, QCase(40000));  // beyond the arena's first size
  EXPECT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
}

TEST(Isolation, CrashOrHangOnOpeningIsAnInputError) {
  const auto failure = [](const std::string& name, const BackendOptions& options) -> std::string {
    try {
      OpenLibraryBackend(PathOf(name), options);
    } catch (const InputError& e) {
      return e.field() + ": " + e.what();
    }
    return "opened";
  };
  EXPECT_NE(failure("crashes_on_load", {}).find("was killed by signal 6 (SIGABRT) in loading"), std::string::npos);
  EXPECT_NE(failure("hangs_on_create", {.timeout_seconds = 0.5}).find("gave no answer within 0.5 s in create"),
            std::string::npos);
}

}  // namespace
}  // namespace kvexact
