// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/process/interruption.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>

namespace kvexact::interruption {
namespace {

struct LeftBehind {
  std::mutex mutex;
  std::set<pid_t> processes;
  std::set<pid_t> groups;
  std::set<std::string> directories;
};

// Never destroyed: the thread that waits for signals ends with the process.
LeftBehind& Listed() {
  static auto* const listed = new LeftBehind;
  return *listed;
}

constexpr std::chrono::seconds kMostWait{5};

// The thread that started a child may wait for it too: then it is no child any more.
void EndProcesses() {
  for (const pid_t child : Listed().processes) ::kill(child, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + kMostWait;
  for (const pid_t child : Listed().processes) {
    while (::waitpid(child, nullptr, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() >= deadline) ::kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

void CleanUp() {
  EndProcesses();
  for (const pid_t group : Listed().groups) ::kill(-group, SIGKILL);
  for (const std::string& directory : Listed().directories) {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
}

void EndWith(int number) {
  ::signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(number);
}

}  // namespace

void CleanUpFirst() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    // As under nohup. sigwait would take it all the same.
    if (action.sa_handler != SIG_IGN) sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int number = 0;
    while (sigwait(&signals, &number) != 0) {
    }
    const auto lock = Lock();
    CleanUp();
    EndWith(number);
  }).detach();
}

std::unique_lock<std::mutex> Lock() { return std::unique_lock(Listed().mutex); }

void AddProcess(pid_t child) { Listed().processes.insert(child); }
void RemoveProcess(pid_t child) { Listed().processes.erase(child); }
void AddGroup(pid_t group) { Listed().groups.insert(group); }
void RemoveGroup(pid_t group) { Listed().groups.erase(group); }
void AddDirectory(const std::string& path) { Listed().directories.insert(path); }
void RemoveDirectory(const std::string& path) { Listed().directories.erase(path); }

}  // namespace kvexact::interruption
