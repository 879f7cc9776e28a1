// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/run_once.h"

namespace kvexact::cli {

TensorMap RunOnce(Backend& backend, const Case& c) {
  TensorMap outputs = c.outputs_before;
  const RunOutcome outcome = backend.Run(c, outputs);
  const std::string& name = backend.info().name;
  switch (outcome.status) {
    case RunStatus::kOk:
      return outputs;
    case RunStatus::kUnsupported:
      throw InputError(c.name, name, "unsupported: " + outcome.message);
    case RunStatus::kError:
    case RunStatus::kCrashed:
      break;
  }
  throw SubjectError(c.name + ": " + name + ": " + outcome.message);
}

}  // namespace kvexact::cli
