# SPDX-License-Identifier: Apache-2.0
# nvcc, where it is found. CMake before 3.27 does not know that nvcc has C++20.
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "kvexact: no nvcc, the CUDA kernels are left out")
  return()
endif()
# sm_100f and sm_120f have E2M1 and UE8M0 conversions and run on their whole families. CMake 3.25 does not know the suffix, so
# this list is kept apart from CMAKE_CUDA_ARCHITECTURES, which replaces it where it is set.
set(KVEXACT_CUDA_ARCHITECTURES 80 90 100f 120f CACHE STRING "Targets of the CUDA kernels")
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES OFF)
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
if(NOT CMAKE_CUDA_ARCHITECTURES)
  foreach(architecture IN LISTS KVEXACT_CUDA_ARCHITECTURES)
    target_compile_options(kvexact_cuda_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:--generate-code=arch=compute_${architecture},code=sm_${architecture}>)
  endforeach()
endif()
if(KVEXACT_WERROR)
  target_compile_options(kvexact_cuda_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>)
endif()
