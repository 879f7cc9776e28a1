// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <unistd.h>

#include "working_table.h"

// Two processes return, the one that the harness knows later than the other.
static int32_t run(kvexact_backend* backend, const kvexact_launch* launch, void* stream) {
  (void)backend;
  (void)stream;
  if (fork() != 0) {
    poll(NULL, 0, 50);
    ((uint8_t*)kvexact_find_tensor(launch, "q_fp8")->data)[0] = 7;
  }
  return KVEXACT_OK;
}

const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  static kvexact_backend_api api;
  (void)abi_version;
  api = working_table();
  api.run = run;
  return &api;
}
