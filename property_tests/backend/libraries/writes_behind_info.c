// SPDX-License-Identifier: Apache-2.0
#include "working_table.h"

// As if compiled with a later header, without a look at struct_size.
static int32_t describe(kvexact_backend_info* info) {
  info->name = "test library";
  memset(info + 1, 1, 16);
  return KVEXACT_OK;
}

const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  static kvexact_backend_api api;
  (void)abi_version;
  api = working_table();
  api.describe = describe;
  return &api;
}
