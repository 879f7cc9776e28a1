// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kvexact::golden {

// Paths of the files in golden/<directory>, ascending.
std::vector<std::string> FilesIn(const std::string& directory);

// Name of a parametrised test: the file's stem.
std::string StemOf(const ::testing::TestParamInfo<std::string>& info);

}  // namespace kvexact::golden
