// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#include "harness/backend/backend.h"

namespace kvexact::cli {

// The subject failed where its outputs were asked for; ends the program with kSubjectAtFault.
class SubjectError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the backend stores for a checked case. Throws InputError for a case that it does not support, and SubjectError.
TensorMap RunOnce(Backend& backend, const Case& c);

}  // namespace kvexact::cli
