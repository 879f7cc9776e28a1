// SPDX-License-Identifier: Apache-2.0
// Loading shared libraries with the C interface, and everything that can be wrong with them.
#include "harness/backend/library_backend.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "harness/abi/kvexact_backend.h"
#include "property_tests/backend/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;

std::string PathOf(const std::string& name) { return std::string(KVEXACT_TEST_LIBRARIES) + "/" + name + ".so"; }

// Field and text of the error that opening a path gives.
struct Failure {
  std::string field;
  std::string text;
};
Failure FailureOf(const std::string& path) {
  try {
    OpenLibraryBackend(path);
  } catch (const InputError& e) {
    EXPECT_EQ(e.source(), "lib:" + path);
    return {e.field(), e.what()};
  }
  ADD_FAILURE() << path << " was opened";
  return {};
}

void ExpectFailure(const std::string& name, const std::string& field, const std::string& text) {
  const Failure failure = FailureOf(PathOf(name));
  EXPECT_EQ(failure.field, field) << name;
  EXPECT_NE(failure.text.find(text), std::string::npos) << name << ": " << failure.text;
}

RunOutcome RunWith(const std::string& name, const Case& c, TensorMap& outputs) {
  return OpenLibraryBackend(PathOf(name))->Run(c, outputs);
}

TEST(LibraryBackend, MissingFileIsNamed) {
  const Failure failure = FailureOf("no/such/library.so");
  EXPECT_EQ(failure.field, "path");
  EXPECT_NE(failure.text.find("no such file"), std::string::npos);
}

TEST(LibraryBackend, BareNameIsNotSearchedInLibraryDirectories) {
  EXPECT_NE(FailureOf("libc.so.6").text.find("no such file"), std::string::npos);
}

TEST(LibraryBackend, FileThatIsNoLibraryIsRefused) {
  const std::string path = testing::TempDir() + "/kvexact_not_a_library.so";
  std::ofstream(path) << "not a library";
  EXPECT_EQ(FailureOf(path).field, "path");
}

TEST(LibraryBackend, EveryFaultOfTheTableIsNamed) {
  ExpectFailure("without_symbol", "kvexact_backend_get_api", "does not export");
  ExpectFailure("refuses_version", "abi_version", "does not speak version 1");
  ExpectFailure("other_version", "abi_version", "version 7, asked for 1");
  ExpectFailure("small_table", "struct_size", "16 bytes, version 1 needs 56");
  ExpectFailure("null_function", "run", "null pointer");
  ExpectFailure("cannot_describe", "describe", "no such device");
  ExpectFailure("nameless", "name", "left it empty");
  ExpectFailure("cannot_create", "create", "no such device");
  ExpectFailure("no_handle", "create", "without a handle");
  ExpectFailure("throws_on_create", "create", "an exception crossed the C interface: no driver");
  ExpectFailure("writes_behind_info", "describe", "wrote behind the struct_size");
}

// Where the build and the machine have CUDA, such a library is opened.
TEST(LibraryBackend, CudaMemoryIsGivenOrRefusedInWords) {
  try {
    EXPECT_EQ(OpenLibraryBackend(PathOf("wants_cuda"))->info().name, "cuda library");
  } catch (const InputError& e) {
    EXPECT_EQ(e.field(), "memory");
    EXPECT_NE(std::string(e.what()).find("the backend asks for CUDA memory, and this"), std::string::npos) << e.what();
  }
}

TEST(LibraryBackend, DefaultsOfTheDescription) {
  const auto backend = OpenLibraryBackend(PathOf("working"));
  EXPECT_EQ(backend->info().name, "test library");
  EXPECT_EQ(backend->info().policy, "poisoned");
  EXPECT_EQ(backend->info().budget, "");
  EXPECT_FALSE(backend->info().bit_exact);
}

TEST(LibraryBackend, DescriptionIsTakenOver) {
  const auto backend = OpenLibraryBackend(PathOf("echo"));
  EXPECT_EQ(backend->info().version, "2.1");
  EXPECT_EQ(backend->info().device, "paper");
  EXPECT_EQ(backend->info().policy, "seed");
  EXPECT_EQ(backend->info().budget, "tree32");
  EXPECT_TRUE(backend->info().bit_exact);
}

TEST(LibraryBackend, OutcomesOfARun) {
  const Case c = CompressCase(Operation::kIndexerFp8, 4, 2, false);
  TensorMap outputs = c.outputs_before;
  RunOutcome outcome = RunWith("working", c, outputs);
  EXPECT_EQ(outcome.status, RunStatus::kOk);
  EXPECT_TRUE(outcome.written_inputs.empty());
  outcome = RunWith("unsupported", c, outputs);
  EXPECT_EQ(outcome.status, RunStatus::kUnsupported);
  EXPECT_EQ(outcome.message, "needs sm_100");
  outcome = RunWith("run_fails", c, outputs);
  EXPECT_EQ(outcome.status, RunStatus::kError);
  EXPECT_EQ(outcome.message, "run: out of registers");
  outcome = RunWith("odd_status", c, outputs);
  EXPECT_EQ(outcome.status, RunStatus::kError);
  EXPECT_EQ(outcome.message, "run returned 77, which is no kvexact_status");
  outcome = RunWith("throws", c, outputs);
  EXPECT_EQ(outcome.status, RunStatus::kError);
  EXPECT_EQ(outcome.message, "run: an exception crossed the C interface: bad launch");
  EXPECT_EQ(outputs, c.outputs_before);
}

TEST(LibraryBackend, WrittenInputIsReportedAndTheCaseStaysWhole) {
  const Case c = CompressCase(Operation::kIndexerFp8, 4, 2, false);
  const TensorMap inputs = c.inputs;
  TensorMap outputs = c.outputs_before;
  const RunOutcome outcome = RunWith("writes_input", c, outputs);
  EXPECT_EQ(outcome.status, RunStatus::kOk);
  EXPECT_EQ(outcome.written_inputs, std::vector<std::string>{"positions"});
  EXPECT_EQ(c.inputs, inputs);
}

TEST(LibraryBackend, ParametersAndLayoutArrive) {
  Case c = CompressCase(Operation::kTwoStage, 12, 4, false);
  c.params.num_decode_tokens = -5;
  c.params.rms_norm_eps = 0.5;
  TensorMap outputs = c.outputs_before;
  ASSERT_EQ(RunWith("echo", c, outputs).status, RunStatus::kOk);
  kvexact_params params;
  kvexact_kv_layout layout;
  std::memcpy(&params, outputs.at("kv_cache").bytes(), sizeof params);
  std::memcpy(&layout, outputs.at("kv_cache").bytes() + sizeof params, sizeof layout);
  EXPECT_EQ(params.struct_size, sizeof params);
  EXPECT_EQ(params.operation, KVEXACT_TWO_STAGE);
  EXPECT_EQ(params.head_dim, 512);
  EXPECT_EQ(params.rope_head_dim, 64);
  EXPECT_EQ(params.num_actual, 12);
  EXPECT_EQ(params.compress_ratio, 4);
  EXPECT_EQ(params.overlap, 0);
  EXPECT_EQ(params.block_size, 3);
  EXPECT_EQ(params.state_width, 512);
  EXPECT_EQ(params.state_row_stride, 1028);
  EXPECT_EQ(params.num_decode_tokens, -5);
  EXPECT_EQ(params.num_splits, 0);
  EXPECT_EQ(params.rms_norm_eps, 0.5F);
  EXPECT_EQ(params.softmax_scale, 0.0F);
  EXPECT_EQ(layout.struct_size, sizeof layout);
  EXPECT_EQ(layout.code_type, KVEXACT_E4M3FN);
  EXPECT_EQ(layout.scale_type, KVEXACT_SCALE_UE8M0);
  EXPECT_EQ(layout.scales_behind_page, 1);
  EXPECT_EQ(layout.code_values, 448);
  EXPECT_EQ(layout.quant_block, 64);
  EXPECT_EQ(layout.token_stride, 576);
  EXPECT_EQ(layout.rope_values, 64);
  EXPECT_EQ(layout.rope_offset, 448);
  EXPECT_EQ(layout.scale_stride, 8);
  EXPECT_EQ(layout.pad_scales, 1);
  EXPECT_EQ(layout.page_tokens, 2);
  EXPECT_EQ(layout.page_stride, outputs.at("kv_cache").dim(1));
  EXPECT_EQ(layout.base_offset, 16);
  EXPECT_EQ(layout.pages, 6);
}

}  // namespace
}  // namespace kvexact
