// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/case/case.h"

namespace kvexact {

// Fills `outputs` from a result file: safetensors with exactly these tensors, of these types and shapes. Returns what
// is wrong with the file, in one line; empty if nothing is, and only then are the outputs changed.
std::string ReadResult(const std::string& path, TensorMap& outputs);

}  // namespace kvexact
