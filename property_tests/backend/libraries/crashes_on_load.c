// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "kvexact_backend.h"

const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  (void)abi_version;
  abort();
}
