// SPDX-License-Identifier: Apache-2.0
// Where a library finds the tensors of a launch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/abi/kvexact_backend.h"
#include "harness/backend/worker/arena_layout.h"

namespace kvexact::worker {

struct LaunchTensor {
  std::string name;
  kvexact_tensor view{};
  Span span;  // in the arena
};

// What a launch did that it must not, as far as this side can see.
struct Findings {
  std::vector<std::string> written_inputs;  // names
  std::vector<std::string> damaged_guards;  // such as "kv_cache (4 bytes behind its end)"
  std::string failure;                      // the device cannot be used any more; empty: it can
};

class LaunchMemory {
 public:
  virtual ~LaunchMemory() = default;
  // Gives every tensor its data pointer, with guards around it. Throws std::runtime_error.
  virtual void Bind(std::vector<LaunchTensor>& tensors) = 0;
  // The stream that the library is to enqueue on.
  virtual void* stream() const = 0;
  // Waits for the work, brings outputs to the arena and says what went wrong.
  virtual Findings Collect(std::vector<LaunchTensor>& tensors) = 0;
};

// Views of the arena itself: inputs read-only, outputs shared with the harness, which looks at the bytes around them.
std::unique_ptr<LaunchMemory> MakeHostMemory();

// Buffers of a CUDA device. Throws OpenFailure where the build or the machine has no CUDA.
std::unique_ptr<LaunchMemory> MakeDeviceMemory(int device);

}  // namespace kvexact::worker
