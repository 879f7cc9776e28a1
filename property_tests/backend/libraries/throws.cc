// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <stdexcept>

#include "working_table.h"

namespace {

std::int32_t Throw(kvexact_backend*, const kvexact_launch*, void*) { throw std::runtime_error("bad launch"); }

}  // namespace

const kvexact_backend_api* kvexact_backend_get_api(std::uint32_t) {
  static kvexact_backend_api api;
  api = working_table();
  api.run = Throw;
  return &api;
}
