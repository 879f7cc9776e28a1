// SPDX-License-Identifier: Apache-2.0
// A backend from a shared library with the C interface of harness/abi/kvexact_backend.h, loaded into this process.
#pragma once

#include <memory>
#include <string>

#include "harness/backend/backend.h"

namespace kvexact {

// Loads the library and creates a handle. Throws InputError (source "lib:PATH") where the file cannot be loaded, lacks
// the symbol, speaks another version, returns an incomplete table, cannot describe itself, asks for memory that this
// process does not give, or fails to create a handle.
//
// Run copies every input, so that the library cannot change the case; an input that it wrote to is named in
// RunOutcome::written_inputs. Outputs are written in place. Exceptions that cross the interface become kError.
std::unique_ptr<Backend> OpenLibraryBackend(const std::string& path);

}  // namespace kvexact
