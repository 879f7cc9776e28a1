// SPDX-License-Identifier: Apache-2.0

#include "working_table.h"

static int32_t run(kvexact_backend* backend, const kvexact_launch* launch, void* stream) {
  (void)backend;
  (void)launch;
  (void)stream;
  const kvexact_tensor* out = kvexact_find_tensor(launch, "weights_out");
  ((volatile uint8_t*)out->data)[out->size_bytes + 4096] = 7;
  return KVEXACT_OK;
}

const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  static kvexact_backend_api api;
  (void)abi_version;
  api = working_table();
  api.run = run;
  return &api;
}
