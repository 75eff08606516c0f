find_package(fmt REQUIRED)
add_executable(device_clock_bench device_clock_bench.cpp)
target_compile_definitions(device_clock_bench PRIVATE RANKSCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(device_clock_bench PRIVATE rankscope_options rankscope_run rankscope_analyse fmt::fmt)
