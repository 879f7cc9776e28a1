# SPDX-License-Identifier: Apache-2.0
# Compile through ccache where it is installed and nothing else was asked for.
find_program(KVEXACT_CCACHE ccache)
mark_as_advanced(KVEXACT_CCACHE)
if(KVEXACT_CCACHE)
  foreach(language C CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${KVEXACT_CCACHE})
    endif()
  endforeach()
endif()
