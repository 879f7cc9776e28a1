// SPDX-License-Identifier: Apache-2.0
// Works, stores nothing, and calls CUDA_VISIBLE_DEVICES its device.
#include <stdlib.h>

#include "working_table.h"

static int32_t describe(kvexact_backend_info* info) {
  const char* device = getenv("CUDA_VISIBLE_DEVICES");
  info->name = "test library";
  info->device = device == NULL ? "none" : device;
  return KVEXACT_OK;
}

const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  static kvexact_backend_api api;
  (void)abi_version;
  api = working_table();
  api.describe = describe;
  return &api;
}
