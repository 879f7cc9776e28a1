// SPDX-License-Identifier: Apache-2.0
// A program that this process started: exec'd, never a mere fork, so that it owes nothing to our threads or GPU state.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/backend/process/descriptor.h"

namespace kvexact {

using Deadline = std::chrono::steady_clock::time_point;

// What a child finds under a number of its own.
struct ChildDescriptor {
  int here = -1;   // a descriptor of this process
  int there = -1;  // its number in the child
};

// Runs in a process group of its own; is ended, with all of its group, on destruction and by CleanUpFirst.
// Standard error is collected.
class ChildProcess {
 public:
  enum class Event { kReadable, kEnd, kTimeout };

  // argv[0] is a path. The child has standard input and output from `descriptors` (or /dev/null, and standard output
  // together with standard error), standard error as a pipe to here, and nothing else of this process. Throws
  // std::system_error if it cannot be started.
  ChildProcess(const std::vector<std::string>& argv, const std::vector<ChildDescriptor>& descriptors);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // Reads up to buffer.size() bytes from `from` into the buffer, waiting until there are some, the other end is closed
  // or the child has ended, whoever else holds that end (both kEnd), or the deadline has passed. `count` is what was
  // read. Collects standard error meanwhile.
  Event Read(int from, std::span<char> buffer, std::size_t& count, Deadline deadline);

  // Writes all bytes to `to`, a pipe or socket to the child, collecting standard error meanwhile. False if the other
  // end is closed or the deadline has passed.
  bool Write(int to, std::span<const char> bytes, Deadline deadline);

  // Waits for its end, at most until `deadline`, and then ends it. Returns how it ended, such as "exited with status 3"
  // or "was killed by signal 11 (SIGSEGV)"; nothing if it had to be ended here.
  std::optional<std::string> Finish(Deadline deadline);

  // Drops what standard error held up to now.
  void ForgetErrors();
  // The last lines of standard error, as one text; empty if there were none.
  std::string ErrorTail(std::size_t most_lines);

 private:
  Event Wait(int descriptor, short events, Deadline deadline);
  void CollectErrors();

  pid_t pid_ = -1;  // -1: reaped
  Descriptor end_;  // is readable once the child has ended; none where the system has no such thing
  Descriptor errors_;
  std::string error_tail_;
};

// Two ends of a connected pair of stream sockets, or the reading and the writing end of a pipe, none inherited by
// children. Both throw std::system_error.
struct DescriptorPair {
  Descriptor first;
  Descriptor second;
};
DescriptorPair MakeSocketPair();
DescriptorPair MakePipe();

}  // namespace kvexact
