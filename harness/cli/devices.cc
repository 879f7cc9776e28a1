// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/devices.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

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

// A directory that is removed with what it holds.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = (fs::temp_directory_path() / "kvexact-devices-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw InputError(pattern, "directory", "cannot be made");
    path_ = pattern;
  }
  ~ScratchDirectory() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  std::string File(std::size_t i) const { return (path_ / fmt::format("part{}.json", i)).string(); }

 private:
  fs::path path_;
};

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
  const auto parts = static_cast<std::int64_t>(devices.size());
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::vector<std::string> words = {"kvexact"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Shard shard = PartOf(whole, static_cast<std::int64_t>(i), parts);
    for (const std::string& word :
         {std::string("--shard"), ShardText(shard), std::string("--json"), scratch.File(i), std::string("--quiet")}) {
      words.push_back(word);
    }
    children.push_back(Start(std::move(words), devices[i]));
  }
  std::vector<int> statuses;
  for (const pid_t child : children) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    statuses.push_back(status);
  }
  std::vector<NamedReport> reports;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    reports.push_back({"device " + devices[i], ReadPart(scratch.File(i), devices[i], statuses[i])});
  }
  return MergeParts(reports, whole);
}

}  // namespace kvexact::cli
