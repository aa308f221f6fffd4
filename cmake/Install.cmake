# What `cmake --install` puts where, and how other projects find it: find_package(holdfast) or
# pkg-config. A project that brings us in by add_subdirectory installs nothing of ours.
option(HOLDFAST_INSTALL "Install Holdfast" ${PROJECT_IS_TOP_LEVEL})
if(NOT HOLDFAST_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
install(TARGETS holdfast EXPORT holdfast-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT development)
install(DIRECTORY include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT holdfast-targets NAMESPACE holdfast:: DESTINATION ${package_dir}
  COMPONENT development)

configure_package_config_file(packaging/holdfast-config.cmake.in holdfast-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Until 1.0 a minor version may change the API.
write_basic_package_version_file(holdfast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/holdfast-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/holdfast-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The .pc file finds its prefix from where it lies, so the tree can be moved.
file(RELATIVE_PATH pc_to_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(packaging/holdfast.pc.in holdfast.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/holdfast.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# Packages name their licence in the way of their distribution.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)
if(HOLDFAST_PROGRAM)
  include(cmake/InstallProgram.cmake)
  include(cmake/Package.cmake)
endif()
