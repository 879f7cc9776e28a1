// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "harness/case/input_error.h"

namespace kvexact {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> CasesIn(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".safetensors") files.push_back(it->path().string());
  }
  if (error) throw InputError(directory, "directory", error.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<std::string> CaseFilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) throw InputError(path, "file", "no such file or directory");
    if (fs::is_directory(status)) {
      const std::vector<std::string> cases = CasesIn(path);
      files.insert(files.end(), cases.begin(), cases.end());
    } else {
      files.push_back(path);
    }
  }
  return files;
}

}  // namespace kvexact
