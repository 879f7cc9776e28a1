// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/devices.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/backend/process/interruption.h"
#include "harness/backend/process/scratch_directory.h"
#include "harness/case/file_io.h"
#include "harness/case/input_error.h"
#include "harness/report/json.h"
#include "harness/report/totals.h"

extern char** environ;

namespace kvexact::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVariable = "CUDA_VISIBLE_DEVICES=";

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t Start(std::vector<std::string> words, const std::string& device) {
  std::vector<std::string> environment = {std::string(kVariable) + device};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(kVariable)) environment.emplace_back(*variable);
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, "/proc/self/exe", &files, nullptr, Pointers(words).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw InputError("--devices", device, "no process: " + std::system_category().message(error));
  return child;
}

// This program, started again with one device. Does not outlive this process, unless that is killed.
class DeviceProcess {
 public:
  DeviceProcess(std::vector<std::string> words, const std::string& device) {
    const auto lock = interruption::Lock();
    child_ = Start(std::move(words), device);
    interruption::AddProcess(child_);
  }
  ~DeviceProcess() {
    if (child_ == 0) return;
    ::kill(child_, SIGTERM);
    Wait();
  }
  DeviceProcess(DeviceProcess&& other) noexcept : child_(std::exchange(other.child_, 0)) {}
  DeviceProcess(const DeviceProcess&) = delete;
  DeviceProcess& operator=(const DeviceProcess&) = delete;
  DeviceProcess& operator=(DeviceProcess&&) = delete;

  // Its status, as waitpid gives it; to be asked for once.
  int Wait() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    const auto lock = interruption::Lock();
    interruption::RemoveProcess(std::exchange(child_, 0));
    return status;
  }

 private:
  pid_t child_ = 0;
};

std::string EndText(int status) {
  if (WIFEXITED(status)) return fmt::format("its process ended with status {}", WEXITSTATUS(status));
  return fmt::format("its process ended by signal {}", WTERMSIG(status));
}

Report ReadPart(const std::string& file, const std::string& device, int status) {
  std::error_code error;
  if (!fs::exists(file, error)) throw InputError("--devices", device, "wrote no report: " + EndText(status));
  const std::vector<std::uint8_t> bytes = ReadFile(file);
  return ReadReportJson({bytes.begin(), bytes.end()}, "the report of device " + device);
}

}  // namespace

std::vector<std::string> DevicesOfText(const std::string& text) {
  std::vector<std::string> devices;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    devices.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].empty()) throw InputError("--devices", text, "must be devices with commas between them");
    if (std::find(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i), devices[i]) !=
        devices.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw InputError("--devices", text, "names " + devices[i] + " twice");
    }
  }
  return devices;
}

Report RunOnDevices(const std::vector<std::string>& devices, const std::vector<std::string>& arguments,
                    const Shard& whole) {
  const ScratchDirectory scratch;
  const auto file = [&](std::size_t i) { return fmt::format("{}/part{}.json", scratch.path(), i); };
  const auto parts = static_cast<std::int64_t>(devices.size());
  std::vector<DeviceProcess> processes;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::vector<std::string> words = {"kvexact"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Shard shard = PartOf(whole, static_cast<std::int64_t>(i), parts);
    for (const std::string& word :
         {std::string("--shard"), ShardText(shard), std::string("--json"), file(i), std::string("--quiet")}) {
      words.push_back(word);
    }
    processes.emplace_back(std::move(words), devices[i]);
  }
  std::vector<int> statuses;
  for (DeviceProcess& process : processes) statuses.push_back(process.Wait());
  std::vector<NamedReport> reports;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    reports.push_back({"device " + devices[i], ReadPart(file(i), devices[i], statuses[i])});
  }
  return MergeParts(reports, whole);
}

}  // namespace kvexact::cli
