// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvexact {

enum class DType : std::uint8_t { kU8, kBf16, kF32, kI32, kI64 };

constexpr std::int64_t SizeOf(DType type) {
  switch (type) {
    case DType::kU8:
      return 1;
    case DType::kBf16:
      return 2;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kI64:
      return 8;
  }
  return 0;
}

// The names that safetensors uses: U8, BF16, F32, I32, I64.
const char* NameOf(DType type);
std::optional<DType> DTypeNamed(std::string_view name);

// An owned, contiguous, row-major tensor; its memory starts at a multiple of 64 bytes.
class Tensor {
 public:
  Tensor() = default;
  // Zero-filled. No dimension may be negative and the number of bytes must fit in 63 bits and in
  // memory; throws std::bad_alloc otherwise.
  Tensor(DType dtype, std::vector<std::int64_t> shape);
  // The same with memory that holds nothing in particular, for one who writes all of it.
  static Tensor Unfilled(DType dtype, std::vector<std::int64_t> shape);
  // A tensor over the same memory, which both keep alive and neither may change. A copy, in contrast, has its own.
  Tensor Alias() const;
  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor() = default;

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t dim(std::size_t i) const { return shape_[i]; }
  std::int64_t elements() const { return elements_; }
  std::int64_t size_bytes() const { return elements_ * SizeOf(dtype_); }

  std::uint8_t* bytes() { return data_.get(); }
  const std::uint8_t* bytes() const { return data_.get(); }
  std::span<std::uint8_t> byte_span() { return {bytes(), static_cast<std::size_t>(size_bytes())}; }
  std::span<const std::uint8_t> byte_span() const { return {bytes(), static_cast<std::size_t>(size_bytes())}; }

  // The caller names the element type; it must match dtype() in size (bf16 is std::uint16_t).
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_.get());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_.get());
  }

  // Same type, shape and bytes (so a NaN equals itself and the zeros differ).
  bool operator==(const Tensor& other) const;

 private:
  DType dtype_ = DType::kU8;
  std::vector<std::int64_t> shape_;
  std::int64_t elements_ = 0;
  std::shared_ptr<std::uint8_t[]> data_;
};

using TensorMap = std::map<std::string, Tensor, std::less<>>;

}  // namespace kvexact
