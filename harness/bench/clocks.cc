// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/clocks.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdint>

namespace kvexact::bench {
namespace {

// The few declarations of nvml.h that are needed: the library comes with the driver, its header with the toolkit.
constexpr int kSuccess = 0;
constexpr int kMultiprocessorClock = 1;  // NVML_CLOCK_SM

template <class Function>
Function* Find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

Clocks::Clocks() {
  char bus_id[32] = "";
  if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0) != cudaSuccess) return;
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  auto* init = Find<int()>(library, "nvmlInit_v2");
  auto* by_bus_id = Find<int(const char*, void**)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || by_bus_id == nullptr || init() != kSuccess || by_bus_id(bus_id, &device_) != kSuccess) {
    dlclose(library);
    return;
  }
  library_ = library;
}

Clocks::~Clocks() {
  if (library_ == nullptr) return;
  if (auto* shutdown = Find<int()>(library_, "nvmlShutdown")) shutdown();
  dlclose(library_);
}

ClockRecord Clocks::Sample() const {
  ClockRecord record;
  if (library_ == nullptr) return record;
  auto* clock = Find<int(void*, int, unsigned*)>(library_, "nvmlDeviceGetClockInfo");
  auto* reasons = Find<int(void*, unsigned long long*)>(library_, "nvmlDeviceGetCurrentClocksThrottleReasons");
  unsigned mhz = 0;
  if (clock != nullptr && clock(device_, kMultiprocessorClock, &mhz) == kSuccess) {
    record.lowest_mhz = record.highest_mhz = mhz;
  }
  unsigned long long bits = 0;
  if (reasons != nullptr && reasons(device_, &bits) == kSuccess) record.throttle_reasons = bits;
  return record;
}

}  // namespace kvexact::bench
