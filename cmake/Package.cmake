# Debian packages: `cmake --build --preset release --target package` makes two of them,
#   holdfast          the program, its manual page, completions, units, configuration and guides
#   libholdfast-dev   the library with its headers
# A plain `cmake --install` leaves out what is installed below: it belongs to a system, not to a
# prefix, so only the packages have it.
function(install_for_package)
  install(${ARGN} COMPONENT program EXCLUDE_FROM_ALL)
endfunction()

install_for_package(FILES
  packaging/systemd/holdfast-server.service packaging/systemd/holdfast-worker@.service
  DESTINATION /lib/systemd/system)
install_for_package(FILES packaging/systemd/holdfast.sysusers
  DESTINATION /usr/lib/sysusers.d RENAME holdfast.conf)
install_for_package(FILES packaging/config/holdfast.yaml packaging/config/server.conf
  DESTINATION /etc/holdfast)
install_for_package(FILES packaging/config/workers/example.conf
  DESTINATION /etc/holdfast/workers)
file(GLOB guides CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
install_for_package(FILES ${guides} DESTINATION /usr/share/doc/holdfast)
install_for_package(FILES packaging/grafana/holdfast.json
  DESTINATION /usr/share/doc/holdfast/grafana)
# CompressDocs.cmake compresses the changelogs.
install_for_package(FILES packaging/debian/copyright packaging/debian/changelog
  DESTINATION /usr/share/doc/holdfast)
install(FILES packaging/debian/copyright packaging/debian/changelog
  DESTINATION /usr/share/doc/libholdfast-dev COMPONENT development EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_CONTACT "The Holdfast authors <holdfast@example.org>")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/CompressDocs.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME holdfast)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "systemd, passwd, tzdata")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/debian/postinst
  ${PROJECT_SOURCE_DIR}/packaging/debian/prerm
  ${PROJECT_SOURCE_DIR}/packaging/debian/postrm
  ${PROJECT_SOURCE_DIR}/packaging/debian/conffiles)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Keeps tasks, outbound HTTP requests, batches of rows and
long-running transactions in a durable store (SQLite, PostgreSQL or Redis),
runs them, and takes back the work of processes that died. This is the
program: command line, workers, and a server with an API and a dashboard.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libholdfast-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libboost1.81-dev, libboost-json1.81-dev, libboost-url1.81-dev, libsqlite3-dev, libpq-dev,\
 libfmt-dev, libspdlog-dev, libyaml-cpp-dev, libhiredis-dev, librabbitmq-dev, libssl-dev,\
 libhowardhinnant-date-dev, libcurl4-openssl-dev, libbrotli-dev, libsodium-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and the static library, for programs in
C++20 that enqueue tasks, run handlers for them, or look at what a store holds.")
include(CPack)
