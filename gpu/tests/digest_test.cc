// SPDX-License-Identifier: Apache-2.0
// The reference stores what the kernels stored on an H200. `gpu_fuzz --digests FILE` writes the file.
#include "gpu/tests/digest.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "harness/backend/backend.h"
#include "harness/generate/generate.h"

namespace kvexact::gpu {
namespace {

TEST(Digests, OfAnH200EqualTheReference) {
  std::ifstream file(KVEXACT_DIGESTS);
  ASSERT_TRUE(file) << KVEXACT_DIGESTS;
  std::map<std::string, std::uint64_t> kept;
  std::uint64_t digest = 0;
  std::string text;
  while (file >> std::hex >> digest && std::getline(file >> std::ws, text)) kept[text] = digest;
  EXPECT_EQ(kept.size(), DigestSpecs().size());
  for (const char* spec : DigestSpecs()) {
    ASSERT_TRUE(kept.contains(spec)) << spec;
    const Case c = Generate(ParseSpec(spec));
    TensorMap outputs = c.outputs_before;
    ASSERT_EQ(MakeReferenceBackend()->Run(c, outputs).status, RunStatus::kOk);
    EXPECT_NE(DigestOf(outputs), DigestOf(c.outputs_before)) << spec;
    EXPECT_EQ(DigestOf(outputs), kept[spec]) << spec;
  }
}

}  // namespace
}  // namespace kvexact::gpu
