// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "working_table.h"

static void destroy(kvexact_backend* backend) {
  (void)backend;
  while (getppid() != 0) sleep(1);
}

const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  static kvexact_backend_api api;
  (void)abi_version;
  api = working_table();
  api.destroy = destroy;
  return &api;
}
