// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/backend.h"
#include "harness/backend/library_backend.h"

namespace kvexact {

std::unique_ptr<Backend> OpenBackend(const std::string& spec) {
  constexpr char kLibrary[] = "lib:";
  if (spec == "reference") return MakeReferenceBackend();
  if (spec == "host") return MakeHostBackend();
  if (spec.starts_with(kLibrary)) return OpenLibraryBackend(spec.substr(sizeof kLibrary - 1));
  throw InputError(spec, "backend", "unknown; there are reference, host and lib:PATH");
}

}  // namespace kvexact
