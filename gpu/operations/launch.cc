// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/launch.h"

namespace kvexact::gpu {

void DealOut(std::int64_t most, CompressArguments& arguments) {
  if (arguments.tokens <= most) {
    arguments.token_step = arguments.tokens;
    arguments.run_shift = 0;
    return;
  }
  arguments.token_step = most % 2 == 0 ? most - 1 : most;
  // Runs of four share a 32-byte sector of positions and slots; with fewer candidates they would leave workers idle.
  arguments.run_shift = arguments.tokens >= 16 * most ? 2 : 0;
}

}  // namespace kvexact::gpu
