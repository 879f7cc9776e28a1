// SPDX-License-Identifier: Apache-2.0
// The build has no CUDA runtime.
#include "harness/backend/worker/launch_memory.h"
#include "harness/backend/worker/loaded_library.h"

namespace kvexact::worker {

std::unique_ptr<LaunchMemory> MakeDeviceMemory(int) {
  throw OpenFailure{
      "memory",
      "the backend asks for CUDA memory, and this build has no CUDA (configure with the CUDA toolkit present)"};
}

}  // namespace kvexact::worker
