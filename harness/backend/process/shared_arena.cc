// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/process/shared_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace kvexact {
namespace {

constexpr std::int64_t kSmallest = std::int64_t{16} << 20;

[[noreturn]] void Fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

SharedArena::SharedArena() : file_(::memfd_create("kvexact", MFD_CLOEXEC)) {
  if (!file_.is_open()) Fail("memfd_create");
  Reserve(kSmallest);
}

SharedArena::~SharedArena() { Unmap(); }

void SharedArena::Unmap() {
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(size_));
  data_ = nullptr;
}

std::uint8_t* SharedArena::Reserve(std::int64_t size) {
  if (size <= size_) return data_;
  Unmap();
  size_ = 2 * size;
  if (::ftruncate(file_.get(), size_) != 0) Fail("ftruncate");
  void* data = ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (data == MAP_FAILED) Fail("mmap");
  data_ = static_cast<std::uint8_t*>(data);
  return data_;
}

}  // namespace kvexact
