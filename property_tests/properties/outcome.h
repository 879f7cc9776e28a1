// SPDX-License-Identifier: Apache-2.0
// What a backend stores for a case and for another one that means the same.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/case/case.h"
#include "harness/run/reorder.h"

namespace kvexact::properties {

// The backends of this machine, by name: reference, host, and cuda where it opens.
std::vector<std::string> BackendsPresent();
// As GoogleTest names the instances of a test.
inline std::string BackendName(const testing::TestParamInfo<std::string>& info) { return info.param; }

// What the case's outputs hold after a run that must end well.
TensorMap OutcomeOf(Backend& backend, const Case& c);

// The same by several launches, one after the other, into the same buffers.
TensorMap OutcomeOf(Backend& backend, const Case& c, const std::vector<PartialLaunch>& launches);

// Throws a rapidcheck failure unless `other`, brought back to the form of the case's outputs, is as good as what one
// run of the case stores: the same bytes for a backend that claims to equal the model, right for any other.
void ExpectSame(Backend& backend, const Case& c, const TensorMap& other);

}  // namespace kvexact::properties
