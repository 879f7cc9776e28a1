// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of the case reader: any bytes are refused by InputError, or give a case that
// survives a round trip and whose every live entry can be read.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "harness/case/case_file.h"
#include "property_tests/case/read_live_entries.h"

using namespace kvexact;  // NOLINT(google-build-using-namespace): a program of two functions

namespace {

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Numbers at the edges of what fields hold.
constexpr const char* kNumbers[] = {"0",    "1",    "2",          "3",          "-1",
                                    "4",    "127",  "128",        "512",        "513",
                                    "1024", "4096", "2147483647", "4294967296", "1099511627776",
                                    "1e9",  "nan",  "1e-60",      "-1e-6",      "9223372036854775807",
                                    "inf",  "",     "true",       "false",      "-9223372036854775808"};

// Replaces one run of digits of the header, and keeps the container's length right.
std::size_t ReplaceNumber(std::uint8_t* data, std::size_t size, std::size_t max_size, std::mt19937& random) {
  std::uint64_t length = 0;
  std::memcpy(&length, data, sizeof length);
  const std::string header(data + 8, data + 8 + length);
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (std::size_t begin = 0; begin < header.size();) {
    const std::size_t first = header.find_first_of("0123456789", begin);
    if (first == std::string::npos) break;
    const std::size_t end = std::min(header.find_first_not_of("0123456789", first), header.size());
    runs.emplace_back(first, end);
    begin = end;
  }
  if (runs.empty()) return size;
  const auto [first, end] = runs[random() % runs.size()];
  const std::string changed = header.substr(0, first) + kNumbers[random() % std::size(kNumbers)] + header.substr(end);
  const std::vector<std::uint8_t> rest(data + 8 + length, data + size);
  const std::size_t total = 8 + changed.size() + rest.size();
  if (total > max_size) return size;
  length = changed.size();
  std::memcpy(data, &length, sizeof length);
  std::memcpy(data + 8, changed.data(), changed.size());
  if (!rest.empty()) std::memcpy(data + 8 + changed.size(), rest.data(), rest.size());
  return total;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  std::uint64_t length = 0;
  if (size >= 8) std::memcpy(&length, data, sizeof length);
  const bool container = size >= 8 && length <= size - 8;
  if (container && random() % 2 == 0) return ReplaceNumber(data, size, max_size, random);
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Case c;
  try {
    c = ParseCase({data, size}, "input");
  } catch (const InputError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) Die("the error has more than one line");
    return 0;
  }
  if (!(ParseCase(SerializeCase(c), "input") == c)) Die("the round trip changed the case");
  test::ReadLiveEntries(c);
  return 0;
}
