# SPDX-License-Identifier: Apache-2.0
# The installed package, for find_package(kvexact): see kvexactConfig.cmake.in for its targets.
include(CMakePackageConfigHelpers)

set(parts spec formats numerics stages operations)
add_library(kvexact_reference INTERFACE)
foreach(part IN LISTS parts)
  target_link_libraries(kvexact_reference INTERFACE kvexact_${part})
endforeach()

add_library(kvexact_abi INTERFACE)
target_include_directories(kvexact_abi INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/harness/abi> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/kvexact/abi>)

foreach(part IN LISTS parts ITEMS flags reference abi)
  set_target_properties(kvexact_${part} PROPERTIES EXPORT_NAME ${part})
  install(TARGETS kvexact_${part} EXPORT kvexactTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
if(TARGET kvexact)
  install(TARGETS kvexact EXPORT kvexactTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(DIRECTORY reference DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvexact FILES_MATCHING PATTERN *.h)
install(DIRECTORY harness/abi/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvexact/abi FILES_MATCHING PATTERN *.h)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kvexact)
install(EXPORT kvexactTargets NAMESPACE kvexact:: DESTINATION ${package_dir})
configure_package_config_file(cmake/kvexactConfig.cmake.in ${PROJECT_BINARY_DIR}/kvexactConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kvexactConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kvexactConfig.cmake ${PROJECT_BINARY_DIR}/kvexactConfigVersion.cmake
  DESTINATION ${package_dir})
