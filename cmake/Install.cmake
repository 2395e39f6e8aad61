# Headers, library, command, pkg-config file and CMake package.
include(CMakePackageConfigHelpers)
install(TARGETS specroute EXPORT specrouteTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS specroute_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/specroute DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT specrouteTargets NAMESPACE specroute:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/specroute)
configure_package_config_file(cmake/specrouteConfig.cmake.in ${PROJECT_BINARY_DIR}/specrouteConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/specroute)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/specrouteConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/specrouteConfig.cmake ${PROJECT_BINARY_DIR}/specrouteConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/specroute)
configure_file(cmake/specroute.pc.in ${PROJECT_BINARY_DIR}/specroute.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/specroute.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set_target_properties(specroute_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
