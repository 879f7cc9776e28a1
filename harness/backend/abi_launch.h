// SPDX-License-Identifier: Apache-2.0
// A case in the terms of the C interface.
#pragma once

#include <vector>

#include "harness/abi/kvexact_backend.h"
#include "harness/case/case.h"

namespace kvexact {

// The launch of a checked case. Owns the descriptors; borrows tensor names and memory.
class AbiLaunch {
 public:
  // Without memory, for `supports`; borrows names from the case.
  explicit AbiLaunch(const Case& c);
  // Borrows names and memory from `inputs` and `outputs`, which have the case's tensors by name.
  AbiLaunch(const Case& c, TensorMap& inputs, TensorMap& outputs);
  AbiLaunch(const AbiLaunch&) = delete;
  AbiLaunch& operator=(const AbiLaunch&) = delete;
  ~AbiLaunch() = default;

  const kvexact_launch* get() const { return &launch_; }

 private:
  void Link(const Case& c);

  kvexact_params params_;
  kvexact_kv_layout layout_;
  std::vector<kvexact_tensor> tensors_;
  std::vector<const kvexact_tensor*> pointers_;
  kvexact_launch launch_;
};

}  // namespace kvexact
