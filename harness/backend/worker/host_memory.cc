// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "harness/backend/worker/fault_report.h"
#include "harness/backend/worker/launch_memory.h"
#include "harness/backend/worker/packet.h"

namespace kvexact::worker {
namespace {

[[noreturn]] void Fail() { throw std::system_error(errno, std::generic_category(), "mmap"); }

// Address space of which nothing is accessible until a part is mapped over.
class Reservation {
 public:
  Reservation() = default;
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { Release(); }

  // At least `size` bytes, none of them accessible.
  char* Clear(std::int64_t size) {
    const std::int64_t wanted = size > size_ ? 2 * size : size_;
    void* at = size > size_ ? nullptr : base_;
    if (size > size_) Release();
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* base =
        ::mmap(at, static_cast<std::size_t>(wanted), PROT_NONE, kFlags | (at != nullptr ? MAP_FIXED : 0), -1, 0);
    if (base == MAP_FAILED) Fail();
    base_ = static_cast<char*>(base);
    size_ = wanted;
    return base_;
  }

 private:
  void Release() {
    if (base_ != nullptr) ::munmap(base_, static_cast<std::size_t>(size_));
    base_ = nullptr;
    size_ = 0;
  }
  char* base_ = nullptr;
  std::int64_t size_ = 0;
};

class HostMemory final : public LaunchMemory {
 public:
  void Bind(std::vector<LaunchTensor>& tensors) override {
    std::int64_t size = kGuard;
    for (const LaunchTensor& tensor : tensors) size += tensor.span.pages_size + kGuard;
    ForgetGuardedBuffers();
    char* at = reservation_.Clear(size) + kGuard;
    for (LaunchTensor& tensor : tensors) {
      const bool output = tensor.view.is_output != 0;
      const auto pages = static_cast<std::size_t>(tensor.span.pages_size);
      void* mapped =
          ::mmap(at, pages, output ? PROT_READ | PROT_WRITE : PROT_READ,
                 (output ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED | MAP_POPULATE, kArena, tensor.span.pages_begin);
      if (mapped == MAP_FAILED) Fail();
      tensor.view.data = at + tensor.span.data_offset;
      NoteGuardedBuffer({tensor.name.c_str(), at, pages, at + tensor.span.data_offset, at + tensor.span.end_offset(),
                         !output, false});
      at += tensor.span.pages_size + kGuard;
    }
  }

  void* stream() const override { return nullptr; }

  Findings Collect(std::vector<LaunchTensor>&) override { return {WrittenInputs(), {}, {}}; }

 private:
  Reservation reservation_;
};

}  // namespace

std::unique_ptr<LaunchMemory> MakeHostMemory() { return std::make_unique<HostMemory>(); }

}  // namespace kvexact::worker
