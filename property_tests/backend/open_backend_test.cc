// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harness/backend/backend.h"

namespace kvexact {
namespace {

TEST(OpenBackend, BuiltInBackendsByName) {
  EXPECT_EQ(OpenBackend("reference")->info().name, "reference");
  EXPECT_EQ(OpenBackend("host")->info().name, "host");
  EXPECT_EQ(OpenBackend("host")->info().policy, "seed");
}

TEST(OpenBackend, LibraryByPath) {
  EXPECT_EQ(OpenBackend("lib:" KVEXACT_TEST_LIBRARIES "/working.so")->info().name, "test library");
}

TEST(OpenBackend, AnythingElseIsAnInputError) {
  for (const char* spec : {"", "Host", "lib:", "lib", "cudnn"}) EXPECT_THROW(OpenBackend(spec), InputError) << spec;
}

}  // namespace
}  // namespace kvexact
