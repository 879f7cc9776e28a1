// SPDX-License-Identifier: Apache-2.0
// A backend from a shared library with the C interface of harness/abi/kvexact_backend.h, run in a process of its own.
#pragma once

#include <memory>
#include <string>

#include "harness/backend/backend.h"

namespace kvexact {

// Starts a worker that loads the library and creates a handle. Throws InputError (source "lib:PATH") where the file
// cannot be loaded, lacks the symbol, speaks another version, returns an incomplete table, cannot describe itself, asks
// for memory that there is not, fails to create a handle, or crashes or hangs meanwhile.
//
// Run: a crash, an exit, a device error that stays or no answer within the time-out is kCrashed and ends the worker;
// the next Run has a fresh one. Host memory: buffers lie between inaccessible pages, so that an access outside one is a
// crash that names the buffer, or a change of the bytes beside it, which RunOutcome::damaged_guards names. Inputs are
// private to the worker: a write to one is named in RunOutcome::written_inputs and reaches nothing.
std::unique_ptr<Backend> OpenLibraryBackend(const std::string& path, const BackendOptions& options = {});

}  // namespace kvexact
