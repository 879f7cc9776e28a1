// SPDX-License-Identifier: Apache-2.0
// Whole launches whose outputs were derived by hand, and launches recorded on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/case/case_file.h"

namespace kvexact {
namespace {

std::vector<std::string> FilesIn(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(KVEXACT_GOLDEN_DIR) + "/" + directory)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string NameOfFile(const ::testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

// The first byte that differs, for the message; -1 if none does.
std::int64_t FirstDifference(const Tensor& a, const Tensor& b) {
  const auto [i, j] = std::mismatch(a.byte_span().begin(), a.byte_span().end(), b.byte_span().begin());
  return i == a.byte_span().end() ? -1 : i - a.byte_span().begin();
}

void ExpectDerivedBytes(Backend& backend, const std::string& path) {
  const Case c = ReadCaseFile(path);
  ASSERT_TRUE(c.outputs_after.has_value());
  TensorMap outputs = c.outputs_before;
  const RunOutcome outcome = backend.Run(c, outputs);
  ASSERT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
  ASSERT_EQ(outputs.size(), c.outputs_after->size());
  for (const auto& [name, after] : *c.outputs_after) {
    const Tensor& stored = outputs.at(name);
    ASSERT_EQ(stored.size_bytes(), after.size_bytes());
    const std::int64_t at = FirstDifference(stored, after);
    EXPECT_EQ(at, -1) << name << " byte " << at << ": stored " << int{stored.bytes()[at]} << ", derived "
                      << int{after.bytes()[at]};
  }
}

class DerivedCase : public ::testing::TestWithParam<std::string> {};

TEST_P(DerivedCase, ReferenceStoresTheBytesDerivedByHand) {
  ExpectDerivedBytes(*MakeReferenceBackend(), GetParam());
}

TEST_P(DerivedCase, HostStoresTheBytesDerivedByHand) { ExpectDerivedBytes(*MakeHostBackend(1), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Golden, DerivedCase, ::testing::ValuesIn(FilesIn("cases")), NameOfFile);

class RecordedCase : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedCase, CanBeReadAndHasOutputs) {
  const Case c = ReadCaseFile(GetParam());
  ASSERT_TRUE(c.outputs_after.has_value());
  EXPECT_FALSE(c.notes.at("recorded_on").empty());
}

INSTANTIATE_TEST_SUITE_P(Golden, RecordedCase, ::testing::ValuesIn(FilesIn("recorded")), NameOfFile);

}  // namespace
}  // namespace kvexact
