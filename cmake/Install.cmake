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
# The file finds its prefix from where it stands, so that any --prefix works.
file(RELATIVE_PATH SR_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/specroute.pc.in ${PROJECT_BINARY_DIR}/specroute.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/specroute.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set_target_properties(specroute_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# Man page and completions come out of the command itself.
add_custom_command(TARGET specroute_cli POST_BUILD VERBATIM
  COMMAND sh -c "$<TARGET_FILE:specroute_cli> man > specroute.1"
  COMMAND sh -c "$<TARGET_FILE:specroute_cli> completion bash > specroute.bash"
  COMMAND sh -c "$<TARGET_FILE:specroute_cli> completion zsh > _specroute"
  COMMAND sh -c "$<TARGET_FILE:specroute_cli> completion fish > specroute.fish"
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
install(FILES ${PROJECT_BINARY_DIR}/specroute.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/specroute.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME specroute)
install(FILES ${PROJECT_BINARY_DIR}/_specroute DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/specroute.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
