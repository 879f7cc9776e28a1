// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/backend/process/interruption.h"

extern char** environ;

namespace kvexact {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kKeptErrorBytes = 64 << 10;

[[noreturn]] void Fail(int error, const char* what) { throw std::system_error(error, std::generic_category(), what); }

void SetNonBlocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) Fail(errno, "fcntl");
}

int MillisecondsUntil(Deadline deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

class SpawnActions {
 public:
  SpawnActions() {
    if (const int error = posix_spawn_file_actions_init(&actions_); error != 0) Fail(error, "posix_spawn");
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  void Duplicate(int here, int there) { Check(posix_spawn_file_actions_adddup2(&actions_, here, there)); }
  void OpenNull(int there) { Check(posix_spawn_file_actions_addopen(&actions_, there, "/dev/null", O_RDWR, 0)); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  static void Check(int error) {
    if (error != 0) Fail(error, "posix_spawn");
  }
  posix_spawn_file_actions_t actions_;
};

// A process group of its own, and the default handling of every signal.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    if (const int error = posix_spawnattr_init(&attributes_); error != 0) Fail(error, "posix_spawn");
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// While it lives, writing to a closed pipe is an error of the write and no signal to this thread.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    const timespec at_once{};
    sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
};

// glibc has no function for it before 2.36.
Descriptor OpenEnd(pid_t pid) {
#ifdef SYS_pidfd_open
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
#else
  return Descriptor();
#endif
}

std::string SignalName(int number) {
  static constexpr std::pair<int, const char*> kNames[] = {
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},
      {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"}, {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}};
  for (const auto& [signal, name] : kNames) {
    if (signal == number) return std::string(" (") + name + ")";
  }
  return "";
}

std::string EndOf(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return "was killed by signal " + std::to_string(number) + SignalName(number);
  }
  // A shell ends so when its command was killed.
  const int code = WEXITSTATUS(status);
  const std::string name = code > 128 ? SignalName(code - 128) : "";
  return "exited with status " + std::to_string(code) + (name.empty() ? "" : ", as after signal" + name);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const std::vector<ChildDescriptor>& descriptors) {
  DescriptorPair error_pipe = MakePipe();
  SetNonBlocking(error_pipe.first.get());
  SpawnActions actions;
  const auto given = [&](int number) {
    return std::any_of(descriptors.begin(), descriptors.end(), [&](const auto& d) { return d.there == number; });
  };
  // Numbers that the child uses could be ours too: everything goes through numbers above them first.
  constexpr int kAbove = 100;
  std::vector<Descriptor> above;
  const auto raise = [&](int fd) {
    above.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, kAbove));
    if (!above.back().is_open()) Fail(errno, "fcntl");
    return above.back().get();
  };
  const int errors = raise(error_pipe.second.get());
  for (const ChildDescriptor& d : descriptors) actions.Duplicate(raise(d.here), d.there);
  if (!given(STDIN_FILENO)) actions.OpenNull(STDIN_FILENO);
  if (!given(STDOUT_FILENO)) actions.Duplicate(errors, STDOUT_FILENO);
  actions.Duplicate(errors, STDERR_FILENO);

  std::vector<std::string> copies = argv;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& argument : copies) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const SpawnAttributes attributes;
  const auto lock = interruption::Lock();
  const int error = posix_spawn(&pid_, argv[0].c_str(), actions.get(), attributes.get(), arguments.data(), environ);
  if (error != 0) {
    pid_ = -1;
    throw std::system_error(error, std::generic_category(), "cannot start " + argv[0]);
  }
  interruption::AddGroup(pid_);
  end_ = OpenEnd(pid_);
  errors_ = std::move(error_pipe.first);
}

ChildProcess::~ChildProcess() { Finish(steady_clock::now()); }

void ChildProcess::CollectErrors() {
  if (!errors_.is_open()) return;
  char buffer[4096];
  while (true) {
    const ssize_t count = ::read(errors_.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errors_.Close();
    if (count <= 0) return;
    error_tail_.append(buffer, static_cast<std::size_t>(count));
    if (error_tail_.size() > 2 * kKeptErrorBytes) error_tail_.erase(0, error_tail_.size() - kKeptErrorBytes);
  }
}

ChildProcess::Event ChildProcess::Wait(int descriptor, short events, Deadline deadline) {
  while (true) {
    CollectErrors();
    // Those that are not open have negative numbers, which poll passes over.
    pollfd polled[3] = {{descriptor, events, 0}, {errors_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
    const int ready = ::poll(polled, std::size(polled), MillisecondsUntil(deadline));
    if (ready < 0 && errno != EINTR) Fail(errno, "poll");
    if (ready > 0 && polled[0].revents != 0) return Event::kReadable;
    if (ready > 0 && polled[2].revents != 0) return Event::kEnd;
    if (ready == 0) return Event::kTimeout;
  }
}

ChildProcess::Event ChildProcess::Read(int from, std::span<char> buffer, std::size_t& count, Deadline deadline) {
  count = 0;
  while (true) {
    const Event event = Wait(from, POLLIN, deadline);
    if (event != Event::kReadable) return event;
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Event::kEnd;  // ECONNRESET too
    count = static_cast<std::size_t>(got);
    return Event::kReadable;
  }
}

bool ChildProcess::Write(int to, std::span<const char> bytes, Deadline deadline) {
  const NoPipeSignal no_signal;
  while (!bytes.empty()) {
    if (Wait(to, POLLOUT, deadline) != Event::kReadable) return false;
    // A pipe that is ready takes PIPE_BUF bytes without blocking.
    const ssize_t put = ::write(to, bytes.data(), std::min<std::size_t>(bytes.size(), 4096));
    if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

std::optional<std::string> ChildProcess::Finish(Deadline deadline) {
  if (pid_ < 0) return std::nullopt;
  int status = 0;
  bool ended = false;
  for (auto pause = std::chrono::microseconds(100);; pause = std::min(2 * pause, std::chrono::microseconds(10000))) {
    CollectErrors();
    ended = ::waitpid(pid_, &status, WNOHANG) == pid_;
    if (ended || steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(pause);
  }
  // What it started is in its group and must not outlive it.
  ::kill(-pid_, SIGKILL);
  {
    const auto lock = interruption::Lock();
    interruption::RemoveGroup(pid_);
  }
  if (!ended) {
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  CollectErrors();
  if (!ended) return std::nullopt;
  return EndOf(status);
}

void ChildProcess::ForgetErrors() {
  CollectErrors();
  error_tail_.clear();
}

std::string ChildProcess::ErrorTail(std::size_t most_lines) {
  CollectErrors();
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < error_tail_.size()) {
    const std::size_t end = std::min(error_tail_.find('\n', begin), error_tail_.size());
    if (error_tail_.find_first_not_of(" \t\r", begin) < end) lines.push_back(error_tail_.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string text;
  for (std::size_t i = lines.size() - std::min(lines.size(), most_lines); i < lines.size(); ++i) {
    text += (text.empty() ? "" : " | ") + lines[i];
  }
  return text;
}

DescriptorPair MakeSocketPair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) Fail(errno, "socketpair");
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

DescriptorPair MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) Fail(errno, "pipe2");
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

}  // namespace kvexact
