// SPDX-License-Identifier: Apache-2.0
#include "kvexact_backend.h"

KVEXACT_EXPORT uint32_t abi_version_of_header(void) { return KVEXACT_ABI_VERSION; }
