// SPDX-License-Identifier: Apache-2.0
#include "harness/case/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>

namespace kvexact {
namespace {

TEST(Tensor, IsZeroFilledAndAligned) {
  for (const DType type : {DType::kU8, DType::kBf16, DType::kF32, DType::kI32, DType::kI64}) {
    const Tensor tensor(type, {3, 5});
    EXPECT_EQ(tensor.size_bytes(), 15 * SizeOf(type));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes()) % 64, 0U);
    for (const std::uint8_t byte : tensor.byte_span()) EXPECT_EQ(byte, 0);
  }
}

TEST(Tensor, OfNoElementsHasAnAddress) {
  const Tensor tensor(DType::kF32, {0, 7});
  EXPECT_EQ(tensor.elements(), 0);
  EXPECT_NE(tensor.bytes(), nullptr);
}

TEST(Tensor, WhoseSizeDoesNotFitIsRefused) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(Tensor(DType::kU8, {-1}), std::bad_alloc);
  EXPECT_THROW(Tensor(DType::kU8, {-2, -3}), std::bad_alloc);
  EXPECT_THROW(Tensor(DType::kU8, {kHuge, 2}), std::bad_alloc);
  EXPECT_THROW(Tensor(DType::kI64, {kHuge / 4}), std::bad_alloc);
  EXPECT_THROW(Tensor(DType::kF32, {0, -1}), std::bad_alloc);
}

TEST(Tensor, CopiesAreEqualAndApart) {
  Tensor first(DType::kI32, {4});
  first.as<std::int32_t>()[2] = 9;
  Tensor second = first;
  EXPECT_EQ(first, second);
  second.as<std::int32_t>()[2] = 8;
  EXPECT_NE(first, second);
  EXPECT_EQ(first.as<std::int32_t>()[2], 9);
  first = second;
  EXPECT_EQ(first, second);
}

TEST(Tensor, MovedFromIsEmpty) {
  Tensor first(DType::kI32, {4});
  const Tensor second = std::move(first);
  EXPECT_EQ(second.elements(), 4);
  // NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move): what is left is what is tested
  EXPECT_TRUE(first.elements() == 0 && first.shape().empty());
}

TEST(Tensor, OfOtherTypeOrShapeDiffersWhateverItsBytes) {
  EXPECT_NE(Tensor(DType::kI32, {4}), Tensor(DType::kF32, {4}));
  EXPECT_NE(Tensor(DType::kU8, {2, 3}), Tensor(DType::kU8, {3, 2}));
}

TEST(DTypeNames, AreThoseOfSafetensors) {
  EXPECT_EQ(DTypeNamed("BF16"), DType::kBf16);
  EXPECT_EQ(DTypeNamed("F64"), std::nullopt);
  for (const DType type : {DType::kU8, DType::kBf16, DType::kF32, DType::kI32, DType::kI64}) {
    EXPECT_EQ(DTypeNamed(NameOf(type)), type);
  }
}

}  // namespace
}  // namespace kvexact
