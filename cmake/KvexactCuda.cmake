# SPDX-License-Identifier: Apache-2.0
# nvcc, where it is found. CMake before 3.27 does not know that nvcc has C++20.
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "kvexact: no nvcc, the CUDA kernels are left out")
  return()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # sm_100f and sm_120f have E2M1 and UE8M0 conversions, and run on their whole families.
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100f-real 120f-real)
endif()
enable_language(CUDA)
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
find_package(CUDAToolkit REQUIRED)

# Device code: IEEE-754 operations, fma where it is written. constexpr functions of the specification run in kernels.
add_library(kvexact_cuda_flags INTERFACE)
target_compile_options(kvexact_cuda_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;--expt-relaxed-constexpr;-Xcompiler=-ffp-contract=off,-Wall,-Wextra>)
if(KVEXACT_WERROR)
  target_compile_options(kvexact_cuda_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>)
endif()
