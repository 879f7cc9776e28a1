// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/markdown.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace kvexact {
namespace {

TEST(FaultsMarkdown, TheDocumentIsThatOfTheTable) {
  std::ifstream file(KVEXACT_FAULTS_DOC);
  ASSERT_TRUE(file) << KVEXACT_FAULTS_DOC;
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), FaultsMarkdown()) << "faults_doc > docs/faults.md";
}

}  // namespace
}  // namespace kvexact
