// SPDX-License-Identifier: Apache-2.0
// The example of docs/backends.md, built outside the tree by the command that stands there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/backend/library_backend.h"
#include "property_tests/backend/small_cases.h"

namespace kvexact {
namespace {

namespace fs = std::filesystem;
using spec::Operation;

// The one line of the document that starts with "cc ".
std::string DocumentedCommand() {
  std::ifstream document(std::string(KVEXACT_SOURCE_DIR) + "/docs/backends.md");
  std::string line;
  std::string command;
  while (std::getline(document, line)) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || line.compare(first, 3, "cc ") != 0) continue;
    EXPECT_EQ(command, "") << "two commands";
    command = line.substr(first);
  }
  EXPECT_NE(command, "");
  return command;
}

class CExample : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new fs::path(fs::temp_directory_path() / ("kvexact_example_" + std::to_string(getpid())));
    fs::create_directory(*directory_);
    const std::string build = "cd '" + directory_->string() + "' && KVEXACT='" KVEXACT_SOURCE_DIR "' && " +
                              DocumentedCommand() + " -Wall -Wextra -Wpedantic -Werror";
    ASSERT_EQ(std::system(build.c_str()), 0) << build;
    backend_ = OpenLibraryBackend((*directory_ / "libmykernel.so").string()).release();
  }
  static void TearDownTestSuite() {
    delete backend_;
    fs::remove_all(*directory_);
    delete directory_;
  }
  static inline fs::path* directory_ = nullptr;
  static inline Backend* backend_ = nullptr;
};

TEST_F(CExample, DescribesItself) {
  EXPECT_EQ(backend_->info().name, "c-example");
  EXPECT_EQ(backend_->info().policy, "seed");
}

// Both round every product and sum on its own and every later step is exact, so the bytes agree.
TEST_F(CExample, AgreesWithTheHostBackend) {
  for (const DType weights : {DType::kF32, DType::kBf16}) {
    for (const DType weights_out : {DType::kF32, DType::kBf16}) {
      Case c = IndexerQCase(Operation::kIndexerQMxfp4, 7, 9, weights, weights_out);
      FillRandom(c, 21);
      c.params.num_actual = 6;
      c.params.softmax_scale = 0.088388347648;
      c.params.head_scale = 0.11;
      Elements<std::uint16_t>(c.inputs, "index_q")[200] = 0x7FC0;
      Elements<std::uint16_t>(c.inputs, "index_q")[900] = 0xFF80;
      std::fill_n(Elements<std::uint16_t>(c.inputs, "index_q") + 1280, 128, std::uint16_t{0});
      TensorMap outputs = c.outputs_before;
      const RunOutcome outcome = backend_->Run(c, outputs);
      ASSERT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
      EXPECT_TRUE(outcome.written_inputs.empty());
      EXPECT_EQ(outputs, RunHost(c));
    }
  }
}

TEST_F(CExample, SaysWhatItDoesNotDo) {
  const Case c = CompressCase(Operation::kSparseAttn, 4, 2, false);
  TensorMap outputs = c.outputs_before;
  const RunOutcome outcome = backend_->Run(c, outputs);
  EXPECT_EQ(outcome.status, RunStatus::kUnsupported);
  EXPECT_EQ(outcome.message, "only indexer_q_mxfp4 with an fp32 cos/sin table");
  EXPECT_EQ(outputs, c.outputs_before);
}

}  // namespace
}  // namespace kvexact
