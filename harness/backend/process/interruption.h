// SPDX-License-Identifier: Apache-2.0
// What must not outlive this process although SIGHUP, SIGINT or SIGTERM end it without a destructor: processes that
// clean up after themselves, which are asked to end, other process groups, which are killed, and directories, which are
// removed.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>

namespace kvexact::interruption {

// From now on the three signals clean up before they end this process, with the status that they always give. To be
// called once, before any other thread exists; a signal that is ignored stays so.
void CleanUpFirst();

// No clean-up begins while a lock is held, and none is over before the process: what is made and listed under one lock
// is not left behind.
std::unique_lock<std::mutex> Lock();

// All with a lock held.
void AddProcess(pid_t child);  // gets SIGTERM, and SIGKILL where that has not ended it in five seconds
void RemoveProcess(pid_t child);
void AddGroup(pid_t group);
void RemoveGroup(pid_t group);
void AddDirectory(const std::string& path);
void RemoveDirectory(const std::string& path);

}  // namespace kvexact::interruption
