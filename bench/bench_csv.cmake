# libcsv is a peer; without it its lines are left out.
find_path(SR_LIBCSV_INCLUDE csv.h)
find_library(SR_LIBCSV csv)
target_compile_definitions(bench_csv PRIVATE SR_BENCH_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
if(SR_LIBCSV AND SR_LIBCSV_INCLUDE)
  target_compile_definitions(bench_csv PRIVATE SR_HAVE_LIBCSV=1)
  target_include_directories(bench_csv PRIVATE ${SR_LIBCSV_INCLUDE})
  target_link_libraries(bench_csv PRIVATE ${SR_LIBCSV})
endif()
