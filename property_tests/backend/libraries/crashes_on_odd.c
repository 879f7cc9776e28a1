// SPDX-License-Identifier: Apache-2.0
#include "working_table.h"

static volatile intptr_t nowhere = 16;

static int32_t run(kvexact_backend* backend, const kvexact_launch* launch, void* stream) {
  (void)backend;
  (void)stream;
  if (launch->params->num_actual % 2 == 1) *(volatile int*)nowhere = 1;
  return KVEXACT_OK;
}

const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  static kvexact_backend_api api;
  (void)abi_version;
  api = working_table();
  api.run = run;
  return &api;
}
