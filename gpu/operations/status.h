// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kvexact::gpu {

enum class StatusCode {
  kOk,
  kInvalid,      // an argument cannot be right: null, misaligned, negative, out of proportion
  kUnsupported,  // a right argument that no kernel serves
  kFailed,       // the runtime refused the launch, or there is no device
};

// What a check or a launch came to. Nothing was launched unless it is kOk.
struct Status {
  StatusCode code = StatusCode::kOk;
  std::string message;  // the field first, then what is wrong with it

  bool ok() const { return code == StatusCode::kOk; }
};

}  // namespace kvexact::gpu
