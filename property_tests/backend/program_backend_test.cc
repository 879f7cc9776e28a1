// SPDX-License-Identifier: Apache-2.0
// Programs behind exec:, and everything that can be wrong with them.
#include "harness/backend/program_backend.h"

#include <gtest/gtest.h>

#include <string>

#include "property_tests/backend/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;

std::string CommandOf(const std::string& mode) {
  return std::string(KVEXACT_TEST_PYTHON) + " '" KVEXACT_SOURCE_DIR "/property_tests/backend/program.py' " + mode;
}

Case QCase() {
  Case c = IndexerQCase(Operation::kIndexerQFp8, 3, 5, DType::kF32, DType::kF32);
  FillRandom(c, 4);
  return c;
}

RunOutcome RunWith(Backend& backend, const Case& c) {
  TensorMap outputs = c.outputs_before;
  RunOutcome outcome = backend.Run(c, outputs);
  EXPECT_EQ(outputs, c.outputs_before);  // what the program stores, and what stays when it fails
  return outcome;
}

// Status and message of a run; the same again from the same backend, so that a failure is no end.
RunOutcome OutcomeOf(const std::string& mode) {
  const auto backend = OpenProgramBackend(CommandOf(mode));
  const RunOutcome first = RunWith(*backend, QCase());
  const RunOutcome second = RunWith(*backend, QCase());
  EXPECT_EQ(second.status, first.status) << mode;
  return first;
}

void ExpectError(const std::string& mode, const std::string& message) {
  const RunOutcome outcome = OutcomeOf(mode);
  EXPECT_EQ(outcome.status, RunStatus::kError) << mode;
  EXPECT_EQ(outcome.message, message) << mode;
}

void ExpectCrash(const std::string& mode, const std::string& message) {
  const RunOutcome outcome = OutcomeOf(mode);
  EXPECT_EQ(outcome.status, RunStatus::kCrashed) << mode;
  EXPECT_EQ(outcome.message, message) << mode;
}

void ExpectBeginning(const std::string& text, const std::string& beginning) {
  EXPECT_TRUE(text.starts_with(beginning)) << text;
}

std::string FailureToOpen(const std::string& mode, const BackendOptions& options = {}) {
  try {
    OpenProgramBackend(CommandOf(mode), options);
  } catch (const InputError& e) {
    EXPECT_EQ(e.source(), "exec:" + CommandOf(mode));
    return std::string(e.what()).substr(Printable(e.source(), 4000).size() + 2);
  }
  return "opened";
}

TEST(ProgramBackend, GreetingIsTakenOver) {
  const auto backend = OpenProgramBackend(CommandOf("well"));
  EXPECT_EQ(backend->info().name, "echo");
  EXPECT_EQ(backend->info().version, "7");
  EXPECT_EQ(backend->info().device, "paper");
  EXPECT_EQ(backend->info().policy, "seed");
  EXPECT_EQ(backend->info().budget, "tree32");
  EXPECT_TRUE(backend->info().bit_exact);
}

TEST(ProgramBackend, OutputsComeBack) {
  const auto backend = OpenProgramBackend(CommandOf("inverts"));
  const Case c = QCase();
  TensorMap outputs = c.outputs_before;
  const RunOutcome outcome = backend->Run(c, outputs);
  ASSERT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
  const Tensor& before = c.outputs_before.at("q_fp8");
  for (std::int64_t i = 0; i < before.size_bytes(); ++i) {
    ASSERT_EQ(outputs.at("q_fp8").bytes()[i], before.bytes()[i] ^ 0xFF) << i;
  }
  EXPECT_EQ(outputs.at("weights_out"), c.outputs_before.at("weights_out"));
}

TEST(ProgramBackend, AnswersOfAWellBehavedProgram) {
  EXPECT_EQ(OutcomeOf("well").status, RunStatus::kOk);
  RunOutcome outcome = OutcomeOf("unsupported");
  EXPECT_EQ(outcome.status, RunStatus::kUnsupported);
  EXPECT_EQ(outcome.message, "needs sm_100");
  outcome = OutcomeOf("reports-damage");
  EXPECT_EQ(outcome.status, RunStatus::kOk);
  EXPECT_EQ(outcome.written_inputs, std::vector<std::string>{"positions"});
  EXPECT_EQ(outcome.damaged_guards, std::vector<std::string>{"q_fp8 (1 bytes behind its end)"});
  ExpectError("error", "cannot launch; its output ended: launch failed: invalid argument");
}

TEST(ProgramBackend, OperationsAndConfigurationsAreNotAskedFor) {
  const auto backend = OpenProgramBackend(CommandOf("configurations"));
  const auto outcome_of = [&](const Case& c) { return RunWith(*backend, c); };
  EXPECT_EQ(outcome_of(QCase()).status, RunStatus::kOk);
  EXPECT_EQ(outcome_of(CompressCase(Operation::kSparseAttn, 4, 4, false)).status, RunStatus::kOk);
  RunOutcome outcome = outcome_of(CompressCase(Operation::kSparseAttn, 4, 2, false));
  EXPECT_EQ(outcome.status, RunStatus::kUnsupported);
  EXPECT_EQ(outcome.message, "sparse_attn is not done with compress_ratio=2");
  outcome = outcome_of(CompressCase(Operation::kIndexerFp8, 4, 4, false));
  EXPECT_EQ(outcome.status, RunStatus::kUnsupported);
  EXPECT_EQ(outcome.message, "does not do indexer_fp8");
}

TEST(ProgramBackend, EndsOfAProgram) {
  const RunOutcome killed = OutcomeOf("killed");
  EXPECT_EQ(killed.status, RunStatus::kCrashed);
  EXPECT_EQ(killed.message.find("the program exited with status 137, as after signal (SIGKILL) without an answer"), 0U)
      << killed.message;
  ExpectCrash("exits", "the program exited with status 3 without an answer; its output ended: out of memory");
  ExpectCrash("leaves-child", "the program exited with status 3 without an answer");
}

// In the shell, which starts fast enough for a short time-out on a busy machine. What hangs is its child, which ends
// too.
TEST(ProgramBackend, HangIsEndedAfterTheTimeOut) {
  const auto backend = OpenProgramBackend(
      R"(echo '{"protocol": 1, "operations": ["indexer_q_fp8"]}'; read request; sleep 1000)", {.timeout_seconds = 4});
  for (int run = 0; run < 2; ++run) {
    const RunOutcome outcome = RunWith(*backend, QCase());
    EXPECT_EQ(outcome.status, RunStatus::kCrashed);
    EXPECT_EQ(outcome.message, "the program gave no answer within 4 s and was ended");
  }
}

TEST(ProgramBackend, AnswersThatAreNone) {
  ExpectError("prints", "standard output must hold answers in JSON alone, and held \"compiling kernel 1 of 3\"");
  ExpectError("malformed", "standard output must hold answers in JSON alone, and held \"{\"id\": \"");
  ExpectError("odd-status", "the answer has the status \"fine\", which is none of ok, unsupported, error");
  ExpectBeginning(OutcomeOf("nested").message,
                  R"(standard output must hold answers in JSON alone, and held "{"id": [[)");
  const RunOutcome outcome = OutcomeOf("wrong-id");
  EXPECT_EQ(outcome.status, RunStatus::kError);
  EXPECT_NE(outcome.message.find("has the id \"0\""), std::string::npos) << outcome.message;
}

TEST(ProgramBackend, ResultFiles) {
  ExpectError("no-result", "answered ok without writing the result file");
  ExpectError("wrong-shape", "the result file has q_fp8 as U8 [1920], must be U8 [3, 5, 128]");
  ExpectError("wrong-type", "the result file has q_fp8 as I64 [240], must be U8 [3, 5, 128]");
  ExpectError("output-missing", "the result file lacks the output q_fp8");
  ExpectError("output-extra", "the result file has \"extra\", which is no output");
  ExpectError("result-directory", "the result file: is a directory");
  ExpectError("result-pipe", "the result file: is not a regular file");
  ExpectBeginning(OutcomeOf("result-large").message, "the result file: data: holds 68719");
  ExpectError("removes-files", "answered ok without writing the result file");
  const RunOutcome outcome = OutcomeOf("result-truncated");
  EXPECT_EQ(outcome.status, RunStatus::kError);
  EXPECT_EQ(outcome.message.find("the result file: "), 0U) << outcome.message;
}

TEST(ProgramBackend, GreetingsThatAreRefused) {
  EXPECT_EQ(FailureToOpen("no-hello"),
            "hello: the first line on standard output must be a JSON object, and is \"Loading kernels ...\"");
  ExpectBeginning(FailureToOpen("hello-nested"),
                  R"(hello: the first line on standard output must be a JSON object, and is "{"protocol": [[)");
  EXPECT_EQ(FailureToOpen("hello-protocol"), "protocol: is 2, must be 1");
  EXPECT_EQ(FailureToOpen("hello-operation"), "operations: \"attention\" is no operation");
  EXPECT_EQ(FailureToOpen("hello-configuration"), "configurations: \"tile\" is no parameter of a case");
  EXPECT_EQ(FailureToOpen("exits-at-once"),
            "program: the program exited with status 9 without an answer; its output ended: no such GPU");
  EXPECT_EQ(FailureToOpen("hangs-at-once", {.timeout_seconds = 1}),
            "program: the program gave no answer within 1 s and was ended");
  EXPECT_THROW(OpenProgramBackend("/no/such/program"), InputError);
}

}  // namespace
}  // namespace kvexact
