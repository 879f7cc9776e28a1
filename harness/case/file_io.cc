// SPDX-License-Identifier: Apache-2.0
#include "harness/case/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "harness/case/input_error.h"

namespace kvexact {
namespace {

[[noreturn]] void FailWithErrno(const std::string& path, const char* action) {
  throw InputError(path, "file", std::string("cannot ") + action + ": " + std::generic_category().message(errno));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  // Returns close's result: data may fail to reach the file only here.
  int Close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

void Write(const Descriptor& file, const std::string& path, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) FailWithErrno(path, "be written");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void WriteAndClose(Descriptor& file, const std::string& path, std::span<const std::uint8_t> bytes) {
  Write(file, path, bytes);
  if (file.Close() != 0) FailWithErrno(path, "be written");
}

bool MayBeRenamedOver(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

// In place. A pipe without a reader is refused, not waited for.
void WriteTo(const std::string& path, std::span<const std::uint8_t> bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
  if (file.get() < 0 || ::fcntl(file.get(), F_SETFL, 0) != 0) FailWithErrno(path, "be written");
  WriteAndClose(file, path, bytes);
}

// A name beside `path` that no other writer uses.
std::string TemporaryFor(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + ".tmp" + std::to_string(::getpid()) + "_" + std::to_string(counter++);
}

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }
  void Keep() { path_.clear(); }

 private:
  std::string path_;
};

// As ReplaceFile, from a file that has no name until it is whole, so that nothing is left behind if this process is
// killed. False where the file system has no such files.
bool ReplaceByUnnamed(const std::string& path, std::span<const std::uint8_t> bytes) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Descriptor file(::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (file.get() < 0) return false;
  Write(file, path, bytes);
  const std::string open_file = "/proc/self/fd/" + std::to_string(file.get());
  const auto name = [&](const std::string& as) {
    return ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, as.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (name(path)) return true;
  if (errno != EEXIST) return false;
  TemporaryFile temporary(TemporaryFor(path));
  if (!name(temporary.path())) {
    temporary.Keep();  // nothing of ours to remove
    return false;
  }
  if (::rename(temporary.path().c_str(), path.c_str()) != 0) FailWithErrno(path, "be replaced");
  temporary.Keep();
  return true;
}

}  // namespace

FileFront ReadFront(const std::string& path, std::size_t most) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) FailWithErrno(path, "be opened");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) FailWithErrno(path, "be examined");
  if (S_ISDIR(status.st_mode)) throw InputError(path, "file", "is a directory");
  if (!S_ISREG(status.st_mode)) throw InputError(path, "file", "is not a regular file");
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  try {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(file_bytes, most)));
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) FailWithErrno(path, "be read");
      if (count == 0) throw InputError(path, "file", "became shorter while it was read");
      done += static_cast<std::size_t>(count);
    }
    return {std::move(bytes), file_bytes};
  } catch (const std::bad_alloc&) {
    throw InputError(path, "file", "does not fit in memory");
  } catch (const std::length_error&) {
    throw InputError(path, "file", "does not fit in memory");
  }
}

std::vector<std::uint8_t> ReadFile(const std::string& path) {
  return ReadFront(path, std::numeric_limits<std::size_t>::max()).bytes;
}

void ReplaceFile(const std::string& path, std::span<const std::uint8_t> bytes) {
  if (!MayBeRenamedOver(path)) return WriteTo(path, bytes);
  if (ReplaceByUnnamed(path, bytes)) return;
  TemporaryFile temporary(TemporaryFor(path));
  Descriptor file(::open(temporary.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) {
    const int error = errno;
    temporary.Keep();  // nothing of ours to remove
    errno = error;
    FailWithErrno(path, "be written");
  }
  WriteAndClose(file, path, bytes);
  if (::rename(temporary.path().c_str(), path.c_str()) != 0) FailWithErrno(path, "be replaced");
  temporary.Keep();
}

void ReplaceFile(const std::string& path, std::string_view text) {
  ReplaceFile(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace kvexact
