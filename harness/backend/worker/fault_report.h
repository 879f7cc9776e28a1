// SPDX-License-Identifier: Apache-2.0
// What a memory fault of the library touched, said to the harness before the process dies of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kvexact::worker {

// The pages of a buffer, with kGuard inaccessible bytes on either side.
struct GuardedBuffer {
  const char* name;  // outlives the launch
  char* pages;
  std::size_t pages_size;
  char* begin;
  char* end;
  bool read_only;  // a write makes the pages writable, sets `written` and goes on
  bool written;
};

// Whether the library forked this process: it has the worker's channel and must not speak on it. Async-signal-safe.
bool IsForked();

// Handles SIGSEGV and SIGBUS from here on. A fault sends a kFault message, such as "accessed kv_cache 12 bytes behind
// its end", and then ends the process as it would have ended without this handler.
void ReportFaults();

// Buffers of the launch; at most 32.
void ForgetGuardedBuffers();
void NoteGuardedBuffer(const GuardedBuffer& buffer);

// Names of read-only buffers that were written to.
std::vector<std::string> WrittenInputs();

}  // namespace kvexact::worker
