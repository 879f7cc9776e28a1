// SPDX-License-Identifier: Apache-2.0
// A library with the C interface of harness/abi/kvexact_backend.h, in this process.
#pragma once

#include <cstdint>
#include <string>

#include "harness/abi/kvexact_backend.h"

namespace kvexact::worker {

// A library that cannot be used: what is wrong with which part of it.
struct OpenFailure {
  std::string field;
  std::string what;
};

struct Description {
  std::int32_t memory = KVEXACT_MEMORY_HOST;
  bool bit_exact = false;
  std::string name;
  std::string version;
  std::string device;
  std::string policy;
  std::string budget;
};

struct Answer {
  std::int32_t status = KVEXACT_OK;  // an enumerator of kvexact_status
  std::string text;                  // why, for every status but KVEXACT_OK
};

// A library and a handle of its. Exceptions that cross the interface become answers and failures.
class LoadedLibrary {
 public:
  // Throws OpenFailure.
  explicit LoadedLibrary(const std::string& path);
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;
  ~LoadedLibrary() = default;

  // Both throw OpenFailure.
  void Describe();
  void Create(int device);
  const Description& description() const { return description_; }
  Answer Supports(const kvexact_launch& launch) const;
  Answer Run(const kvexact_launch& launch, void* stream) const;
  void Destroy();  // once; a handle that is never destroyed ends with the process

 private:
  template <class Function>
  Answer Call(const std::string& name, const Function& function) const;

  const kvexact_backend_api* api_ = nullptr;
  Description description_;
  kvexact_backend* handle_ = nullptr;
};

}  // namespace kvexact::worker
