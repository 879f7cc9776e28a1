# SPDX-License-Identifier: Apache-2.0
# The one interface target that carries language level, floating-point model and warnings.
add_library(kvexact_flags INTERFACE)
add_library(kvexact::flags ALIAS kvexact_flags)
target_compile_features(kvexact_flags INTERFACE cxx_std_20)
target_include_directories(kvexact_flags INTERFACE
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/kvexact>)

# The strict model is IEEE-754 with fma where it is written and nowhere else.
set(kvexact_cxx $<COMPILE_LANGUAGE:CXX>)
target_compile_options(kvexact_flags INTERFACE $<${kvexact_cxx}:-ffp-contract=off>)

target_compile_options(kvexact_flags INTERFACE
  $<BUILD_INTERFACE:$<${kvexact_cxx}:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-Wold-style-cast;-Wundef>>)
if(KVEXACT_WERROR)
  target_compile_options(kvexact_flags INTERFACE $<BUILD_INTERFACE:$<${kvexact_cxx}:-Werror>>)
endif()
