// SPDX-License-Identifier: Apache-2.0
#include "property_tests/formats/cuda_conversions.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

namespace kvexact::format_tests {
namespace {

__nv_saturation_t Saturation(bool saturate) { return saturate ? __NV_SATFINITE : __NV_NOSAT; }

}  // namespace

std::uint8_t CudaE4M3(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }
std::uint8_t CudaE4M3NoSaturation(float x) { return __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3); }
std::uint8_t CudaE2M1(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
std::uint8_t CudaE2M1TowardZero(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundZero); }
std::uint16_t CudaBf16(float x) { return __nv_bfloat16_raw(__float2bfloat16_rn(x)).x; }
std::uint16_t CudaBf16TowardZero(float x) { return __nv_bfloat16_raw(__float2bfloat16_rz(x)).x; }
std::uint8_t CudaUe8m0TowardZero(float x, bool saturate) {
  return __nv_cvt_float_to_e8m0(x, Saturation(saturate), cudaRoundZero);
}
std::uint8_t CudaUe8m0AwayFromZero(float x, bool saturate) {
  return __nv_cvt_float_to_e8m0(x, Saturation(saturate), cudaRoundPosInf);
}

float CudaDecodeE4M3(std::uint8_t code) { return __half2float(__half(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3))); }
float CudaDecodeE2M1(std::uint8_t code) { return __half2float(__half(__nv_cvt_fp4_to_halfraw(code, __NV_E2M1))); }
float CudaDecodeUe8m0(std::uint8_t code) { return __bfloat162float(__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(code))); }

}  // namespace kvexact::format_tests
