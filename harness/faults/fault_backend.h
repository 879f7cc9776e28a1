// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "harness/backend/backend.h"
#include "harness/faults/fault.h"

namespace kvexact {

// A variant of the model as a subject: its stages, over an arithmetic with these column kernels.
std::unique_ptr<Backend> MakeVariantBackend(std::string name, const Variant& variant,
                                            const ColumnKernels& kernels = BestColumnKernels());

// "fault:NAME", or "fault:NAME+NAME" for two at once. Throws InputError for names that no row has.
std::unique_ptr<Backend> OpenFaultBackend(const std::string& spec);

}  // namespace kvexact
