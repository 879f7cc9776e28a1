// SPDX-License-Identifier: Apache-2.0
// write_fuzz_corpus DIR: seeds of case_reader_fuzz, a few kilobytes each: every operation, with and without tokens.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "harness/case/case_file.h"
#include "property_tests/case/small_cases.h"

using namespace kvexact;  // NOLINT(google-build-using-namespace): a program of one function

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_fuzz_corpus DIR\n");
    return 2;
  }
  try {
    const std::filesystem::path directory = argv[1];
    std::filesystem::create_directories(directory);
    for (const spec::Operation op : test::AllOperations()) {
      Case whole = test::SmallCase(op);
      whole.outputs_after = whole.outputs_before;
      WriteCaseFile((directory / (std::string(whole.row().name) + "_recorded")).string(), whole);
      WriteCaseFile((directory / whole.row().name).string(), test::SmallCase(op));
      WriteCaseFile((directory / (std::string(whole.row().name) + "_empty")).string(), test::EmptyCase(op));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
