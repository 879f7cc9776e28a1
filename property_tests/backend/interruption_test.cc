// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/process/interruption.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "harness/backend/process/child_process.h"
#include "harness/backend/process/scratch_directory.h"

namespace kvexact {
namespace {

using std::chrono::steady_clock;

// Never returns: holds a directory and a child that would sleep on for a minute, tells where, and is signalled.
void HoldAndDie(const std::string& told, int number) {
  ::signal(number, SIG_DFL);
  interruption::CleanUpFirst();
  const ScratchDirectory directory;
  DescriptorPair from_child = MakePipe();
  ChildProcess child({"/bin/sh", "-c", "trap '' TERM INT HUP; echo $$; exec sleep 60"}, {{from_child.second.get(), 1}});
  char pid[32] = {};
  std::size_t count = 0;
  child.Read(from_child.first.get(), pid, count, steady_clock::now() + std::chrono::seconds(20));
  std::ofstream(told) << directory.path() << ' ' << std::string(pid, count) << std::flush;
  ::kill(::getpid(), number);
  std::this_thread::sleep_for(std::chrono::seconds(20));
}

bool EndsSoon(pid_t pid) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(20);
  while (steady_clock::now() < deadline) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string word;
    if (!(status >> word >> word >> word) || word == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(InterruptionDeathTest, LeavesNoProcessAndNoDirectory) {
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    const std::string told = testing::TempDir() + "/kvexact_interruption_" + std::to_string(::getpid());
    EXPECT_EXIT(HoldAndDie(told, number), testing::KilledBySignal(number), "");
    std::string directory;
    pid_t pid = 0;
    std::ifstream(told) >> directory >> pid;
    std::filesystem::remove(told);
    ASSERT_GT(pid, 0);
    EXPECT_FALSE(std::filesystem::exists(directory)) << directory;
    EXPECT_TRUE(EndsSoon(pid)) << number;
  }
}

TEST(InterruptionDeathTest, IgnoredSignalsStayIgnored) {
  const auto live_on = [] {
    ::signal(SIGHUP, SIG_IGN);
    interruption::CleanUpFirst();
    ::kill(::getpid(), SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::_exit(0);
  };
  EXPECT_EXIT(live_on(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kvexact
