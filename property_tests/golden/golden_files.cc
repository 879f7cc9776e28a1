// SPDX-License-Identifier: Apache-2.0
#include "property_tests/golden/golden_files.h"

#include <algorithm>
#include <filesystem>

namespace kvexact::golden {

std::vector<std::string> FilesIn(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(KVEXACT_GOLDEN_DIR) + "/" + directory)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string StemOf(const ::testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

}  // namespace kvexact::golden
