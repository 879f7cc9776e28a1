// SPDX-License-Identifier: Apache-2.0
// CUDA's host conversions (cuda_fp8.h, cuda_fp4.h, cuda_bf16.h) behind plain types.
#pragma once

#include <cstdint>

namespace kvexact::format_tests {

std::uint8_t CudaE4M3(float x);  // satfinite
std::uint8_t CudaE4M3NoSaturation(float x);
std::uint8_t CudaE2M1(float x);  // nearest even, satfinite
std::uint8_t CudaE2M1TowardZero(float x);
std::uint16_t CudaBf16(float x);  // nearest even
std::uint16_t CudaBf16TowardZero(float x);
std::uint8_t CudaUe8m0TowardZero(float x, bool saturate);
std::uint8_t CudaUe8m0AwayFromZero(float x, bool saturate);

// Decoders; through fp16 (E4M3, E2M1) or bf16 (UE8M0), which hold every value.
float CudaDecodeE4M3(std::uint8_t code);
float CudaDecodeE2M1(std::uint8_t code);
float CudaDecodeUe8m0(std::uint8_t code);

}  // namespace kvexact::format_tests
