# SPDX-License-Identifier: Apache-2.0
# cmake -D source_dir= -D template= -D output= -D version= -D compiler= -D build_type= -P write_build_info.cmake
# Writes `output` from `template`, and leaves it alone if nothing changed.
set(revision unknown)
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${source_dir} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    execute_process(COMMAND ${git} -C ${source_dir} status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes ERROR_QUIET)
    set(revision ${hash})
    if(changes)
      string(APPEND revision "+")
    endif()
  endif()
endif()
if(build_type STREQUAL "")
  set(build_type none)
endif()
configure_file(${template} ${output} @ONLY)
