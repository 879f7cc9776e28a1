# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=... -D CONSUMERS=A;B -D WORK=... -D GENERATOR=... -D COMPILER=... -D C_COMPILER=... -P consume.cmake
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(REMOVE_RECURSE ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
foreach(consumer IN LISTS CONSUMERS)
  get_filename_component(name ${consumer} NAME)
  set(build ${WORK}/${name}-build)
  file(REMOVE_RECURSE ${build})
  run(${CMAKE_COMMAND} -S ${consumer} -B ${build} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${build})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${build} --output-on-failure --no-tests=error)
endforeach()
