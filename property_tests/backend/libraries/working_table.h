// SPDX-License-Identifier: Apache-2.0
// A table whose functions all succeed and store nothing; each library of this directory breaks one thing.
#ifndef WORKING_TABLE_H_
#define WORKING_TABLE_H_

#include "kvexact_backend.h"

struct kvexact_backend {
  const char* error;
};

static kvexact_backend the_backend;

static int32_t working_describe(kvexact_backend_info* info) {
  info->name = "test library";
  return KVEXACT_OK;
}

static int32_t working_create(const kvexact_create_args* args, kvexact_backend** backend) {
  (void)args;
  *backend = &the_backend;
  return KVEXACT_OK;
}

static int32_t working_supports(kvexact_backend* backend, const kvexact_launch* launch) {
  (void)backend;
  (void)launch;
  return KVEXACT_OK;
}

static int32_t working_run(kvexact_backend* backend, const kvexact_launch* launch, void* stream) {
  (void)backend;
  (void)launch;
  (void)stream;
  return KVEXACT_OK;
}

static const char* working_last_error(const kvexact_backend* backend) {
  return backend == NULL ? "no such device" : backend->error;
}

static void working_destroy(kvexact_backend* backend) { (void)backend; }

static inline kvexact_backend_api working_table(void) {
  const kvexact_backend_api api = {
      sizeof(kvexact_backend_api), KVEXACT_ABI_VERSION, working_describe, working_create, working_supports, working_run,
      working_last_error,          working_destroy};
  return api;
}

#endif  // WORKING_TABLE_H_
