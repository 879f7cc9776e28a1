// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "harness/backend/backend.h"
#include "harness/faults/fault.h"
#include "property_tests/ports/port_options.h"

namespace kvexact::ports {

// An honest port: the model's placement and rounding over the port's own fp32 evaluation. `options` must live as long.
std::unique_ptr<Backend> MakePort(const PortOptions& options);

// The same with a fault, of a stage that the port does not replace (its own are the weighted mean, the norm, the
// rotation and the folded weight); a fault of those replaces the port's.
std::unique_ptr<Backend> MakeFaultyPort(const PortOptions& options, const Fault& fault);

}  // namespace kvexact::ports
