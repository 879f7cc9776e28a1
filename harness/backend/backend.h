// SPDX-License-Identifier: Apache-2.0
// What the harness asks of an implementation under test.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.h"

namespace kvexact {

struct BackendInfo {
  std::string name;
  std::string version;
  std::string device;
  std::string policy;       // the policy under which its outputs are judged by default
  bool bit_exact;           // claims to equal the strict model byte for byte
  std::string budget = {};  // a looser error budget that it declares for itself; empty: none
  bool concurrent = false;  // Run may be called from several threads at once
};

enum class RunStatus { kOk, kUnsupported, kError, kCrashed };

struct RunOutcome {
  RunStatus status = RunStatus::kOk;
  std::string message;                           // why, for every status but kOk
  std::vector<std::string> written_inputs = {};  // inputs whose bytes the implementation changed
  std::vector<std::string> damaged_guards =
      {};  // buffers beside which it wrote, such as "scratch (4 bytes behind its end)"
};

// How foreign implementations are run.
struct BackendOptions {
  double timeout_seconds = 60;  // for one answer; a process that gives none is ended
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const BackendInfo& info() const = 0;
  // Runs a checked case once; `outputs` holds c.outputs_before or another fill of the same shapes
  // and receives what the implementation stored.
  virtual RunOutcome Run(const Case& c, TensorMap& outputs) = 0;
  // Ends what the runs need; a later run makes it anew. kCrashed, with words, where the implementation does not end as
  // it should. Not while a run is on.
  virtual RunOutcome Close() { return {}; }
};

// The built-in backends.
std::unique_ptr<Backend> MakeReferenceBackend();
std::unique_ptr<Backend> MakeHostBackend(int threads);  // threads that one case is shared out to, at least 1

// NAME (reference, host, cuda), fault:NAME, lib:PATH (a shared library with the C ABI), exec:CMD (a program that reads
// case files). Throws InputError.
std::unique_ptr<Backend> OpenBackend(const std::string& spec, const BackendOptions& options = {});

}  // namespace kvexact
