# Required and optional libraries. docs/dependencies.md says what each is for.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
if(SR_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_package(ZLIB REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_path(SR_RANDOM123_INCLUDE Random123/philox.h REQUIRED)
find_library(SR_OPENBLAS openblas REQUIRED)
find_library(SR_LAPACKE lapacke REQUIRED)

set(SR_LIBRARIES m Threads::Threads ZLIB::ZLIB PkgConfig::JANSSON ${SR_LAPACKE} ${SR_OPENBLAS})
if(SR_STATIC)
  # OpenBLAS brings LAPACK, which is Fortran.
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libgfortran.a OUTPUT_VARIABLE SR_GFORTRAN
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libquadmath.a OUTPUT_VARIABLE SR_QUADMATH
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_library(SR_JANSSON jansson REQUIRED)
  set(SR_LIBRARIES Threads::Threads ZLIB::ZLIB ${SR_JANSSON} ${SR_LAPACKE} ${SR_OPENBLAS} ${SR_GFORTRAN}
      ${SR_QUADMATH} m)
endif()
set(SR_FEATURES "zlib blas lapack random123")
set(SR_MISSING "")
set(SR_EXCLUDED_SOURCES "")

set(SR_WITHOUT "" CACHE STRING "optional libraries to leave out although they are here")

# sr_optional(name found target source...): links `target` and defines SR_HAVE_NAME, or leaves the
# sources out.
macro(sr_optional name found target)
  string(TOUPPER ${name} upper_)
  if(${found} AND NOT ${name} IN_LIST SR_WITHOUT)
    list(APPEND SR_LIBRARIES ${target})
    string(APPEND SR_FEATURES " ${name}")
    target_compile_definitions(sr_flags INTERFACE SR_HAVE_${upper_}=1)
  else()
    string(APPEND SR_MISSING " ${name}")
    foreach(source_ ${ARGN})
      list(APPEND SR_EXCLUDED_SOURCES ${PROJECT_SOURCE_DIR}/${source_})
    endforeach()
  endif()
endmacro()

pkg_check_modules(NETCDF IMPORTED_TARGET netcdf)
sr_optional(netcdf NETCDF_FOUND PkgConfig::NETCDF)
pkg_check_modules(GDAL IMPORTED_TARGET gdal)
sr_optional(gdal GDAL_FOUND PkgConfig::GDAL)
pkg_check_modules(XGBOOST IMPORTED_TARGET xgboost)
sr_optional(xgboost XGBOOST_FOUND PkgConfig::XGBOOST)
find_library(SR_ARPACK arpack)
sr_optional(arpack SR_ARPACK ${SR_ARPACK})
string(STRIP "${SR_MISSING}" SR_MISSING)
