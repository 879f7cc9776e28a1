// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/backend/process/descriptor.h"

namespace kvexact {

// Memory without a name that child processes can map through its descriptor. Grows; never shrinks.
class SharedArena {
 public:
  // Throws std::system_error, as Reserve does.
  SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;
  ~SharedArena();

  int descriptor() const { return file_.get(); }
  // At least `size` bytes, mapped here; earlier addresses end. What it holds stays.
  std::uint8_t* Reserve(std::int64_t size);
  std::uint8_t* data() { return data_; }

 private:
  void Unmap();

  Descriptor file_;
  std::uint8_t* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace kvexact
