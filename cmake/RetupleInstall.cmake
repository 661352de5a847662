# cmake --install, the package config for find_package(Retuple), and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY RETUPLE_LIBRARIES)
install(TARGETS ${libraries} EXPORT RetupleTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS retuple RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(folder etuple unify rewrite ir_bridge kernels tools)
  install(DIRECTORY ${folder} DESTINATION include/retuple FILES_MATCHING PATTERN "*.h"
          PATTERN "internal" EXCLUDE PATTERN "proto_io.h" EXCLUDE)
endforeach()
install(DIRECTORY rules DESTINATION ${CMAKE_INSTALL_DATADIR}/retuple)
install(EXPORT RetupleTargets NAMESPACE retuple:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Retuple)
configure_package_config_file(cmake/RetupleConfig.cmake.in ${CMAKE_BINARY_DIR}/RetupleConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Retuple)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/RetupleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/RetupleConfig.cmake ${CMAKE_BINARY_DIR}/RetupleConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Retuple)
configure_file(cmake/retuple.pc.in ${CMAKE_BINARY_DIR}/retuple.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/retuple.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
