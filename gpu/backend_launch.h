// SPDX-License-Identifier: Apache-2.0
// A launch of the C interface, in the terms of the kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <variant>

#include "gpu/operations/compress.h"
#include "gpu/operations/indexer_q.h"
#include "harness/abi/kvexact_backend.h"

namespace kvexact::gpu {

using Description = std::variant<CompressDescription, IndexerQDescription>;

// Reads the launch; `data` pointers may be null. kInvalid where a tensor is missing or its type or shape is not the
// schema's, kUnsupported where the kernels do not serve it.
Status Describe(const kvexact_launch& launch, Description& description);

// Whether Launch would serve a launch whose pointers are not known yet.
Status CheckShapes(const kvexact_launch& launch);

// Checks and enqueues a launch whose tensors lie in device memory; with a machine, as Launch of a description.
Status Launch(const kvexact_launch& launch, cudaStream_t stream);
Status Launch(const kvexact_launch& launch, const Machine& machine, cudaStream_t stream);

}  // namespace kvexact::gpu
