// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "harness/backend/backend.h"
#include "harness/backend/cuda_library.h"
#include "harness/backend/library_backend.h"
#include "harness/backend/program_backend.h"
#include "harness/faults/fault_backend.h"

namespace kvexact {

std::unique_ptr<Backend> OpenBackend(const std::string& spec, const BackendOptions& options) {
  constexpr std::string_view kLibrary = "lib:";
  constexpr std::string_view kProgram = "exec:";
  if (spec == "reference") return MakeReferenceBackend();
  if (spec == "host") return MakeHostBackend(1);
  if (spec == "cuda") return OpenLibraryBackend(CudaLibraryPath(), options);
  if (spec.starts_with("fault:")) return OpenFaultBackend(spec);
  if (spec.starts_with(kLibrary)) return OpenLibraryBackend(spec.substr(kLibrary.size()), options);
  if (spec.starts_with(kProgram)) return OpenProgramBackend(spec.substr(kProgram.size()), options);
  throw InputError(spec, "backend", "unknown; there are reference, host, cuda, fault:NAME, lib:PATH and exec:CMD");
}

}  // namespace kvexact
