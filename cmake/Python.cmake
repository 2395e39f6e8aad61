# The Python package: its files, the declarations made from the headers, the library and the command. A
# build tree holds it whole below python/ (PYTHONPATH=build/dev/python); a wheel installs the same.
find_program(SR_PYTHON NAMES python3 REQUIRED)
file(GLOB SR_PYTHON_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/specroute/*.py
     ${PROJECT_SOURCE_DIR}/python/specroute/*.pyi ${PROJECT_SOURCE_DIR}/python/specroute/py.typed)
set(SR_PACKAGE ${PROJECT_BINARY_DIR}/python/specroute)
add_custom_command(OUTPUT ${SR_PACKAGE}/_declarations.py
  COMMAND ${CMAKE_COMMAND} -E make_directory ${SR_PACKAGE}/lib ${SR_PACKAGE}/bin
  COMMAND ${SR_PYTHON} ${PROJECT_SOURCE_DIR}/python/declarations.py ${SR_PACKAGE}/_declarations.py
  DEPENDS ${PROJECT_SOURCE_DIR}/python/declarations.py ${SR_HEADERS} VERBATIM)
add_custom_command(OUTPUT ${SR_PACKAGE}/.copied
  COMMAND ${CMAKE_COMMAND} -E copy ${SR_PYTHON_FILES} ${SR_PACKAGE}
  COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:specroute> ${SR_PACKAGE}/lib/libspecroute.so
  COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:specroute_cli> ${SR_PACKAGE}/bin/specroute
  COMMAND ${CMAKE_COMMAND} -E touch ${SR_PACKAGE}/.copied
  DEPENDS ${SR_PYTHON_FILES} ${SR_PACKAGE}/_declarations.py VERBATIM)
add_custom_target(python_package ALL DEPENDS ${SR_PACKAGE}/.copied specroute specroute_cli)

if(SKBUILD)
  install(TARGETS specroute LIBRARY DESTINATION lib COMPONENT python)
  install(TARGETS specroute_cli RUNTIME DESTINATION bin COMPONENT python)
  install(FILES ${SR_PACKAGE}/_declarations.py DESTINATION . COMPONENT python)
  set_target_properties(specroute_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
endif()
