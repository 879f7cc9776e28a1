// SPDX-License-Identifier: Apache-2.0
#include "harness/case/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "harness/case/checked_math.h"

namespace kvexact {
namespace {

constexpr std::align_val_t kAlignment{64};

struct TypeName {
  DType type;
  const char* name;
};
constexpr TypeName kTypeNames[] = {
    {DType::kU8, "U8"}, {DType::kBf16, "BF16"}, {DType::kF32, "F32"}, {DType::kI32, "I32"}, {DType::kI64, "I64"},
};

std::int64_t ElementsOf(DType dtype, const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    const std::optional<std::int64_t> product = CheckedMul(elements, extent);
    if (extent < 0 || !product) throw std::bad_array_new_length();
    elements = *product;
  }
  if (!CheckedMul(elements, SizeOf(dtype))) throw std::bad_array_new_length();
  return elements;
}

// Empty tensors own memory too, so that bytes() may be passed to memcpy.
std::shared_ptr<std::uint8_t[]> Allocate(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  return {static_cast<std::uint8_t*>(::operator new(size, kAlignment)),
          [](std::uint8_t* p) { ::operator delete(p, kAlignment); }};
}

}  // namespace

const char* NameOf(DType type) {
  for (const TypeName& row : kTypeNames) {
    if (row.type == type) return row.name;
  }
  return "?";
}

std::optional<DType> DTypeNamed(std::string_view name) {
  for (const TypeName& row : kTypeNames) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

Tensor Tensor::Unfilled(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.elements_ = ElementsOf(dtype, shape);
  tensor.shape_ = std::move(shape);
  tensor.data_ = Allocate(tensor.size_bytes());
  return tensor;
}

Tensor::Tensor(DType dtype, std::vector<std::int64_t> shape) : Tensor(Unfilled(dtype, std::move(shape))) {
  std::memset(data_.get(), 0, static_cast<std::size_t>(size_bytes()));
}

Tensor Tensor::Alias() const {
  Tensor alias;
  alias.dtype_ = dtype_;
  alias.shape_ = shape_;
  alias.elements_ = elements_;
  alias.data_ = data_;
  return alias;
}

Tensor::Tensor(const Tensor& other) : dtype_(other.dtype_), shape_(other.shape_), elements_(other.elements_) {
  if (!other.data_) return;
  data_ = Allocate(size_bytes());
  std::memcpy(data_.get(), other.data_.get(), static_cast<std::size_t>(size_bytes()));
}

Tensor& Tensor::operator=(const Tensor& other) {
  if (this != &other) *this = Tensor(other);
  return *this;
}

Tensor::Tensor(Tensor&& other) noexcept
    : dtype_(other.dtype_),
      shape_(std::move(other.shape_)),
      elements_(std::exchange(other.elements_, 0)),
      data_(std::move(other.data_)) {
  other.shape_.clear();
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  dtype_ = other.dtype_;
  shape_ = std::exchange(other.shape_, {});
  elements_ = std::exchange(other.elements_, 0);
  data_ = std::move(other.data_);
  return *this;
}

bool Tensor::operator==(const Tensor& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ && elements_ == other.elements_ &&
         (elements_ == 0 || std::memcmp(bytes(), other.bytes(), static_cast<std::size_t>(size_bytes())) == 0);
}

}  // namespace kvexact
