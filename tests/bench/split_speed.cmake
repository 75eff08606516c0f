add_executable(split_speed split_speed.cpp)
target_link_libraries(split_speed PRIVATE rankscope_run rankscope_options fmt::fmt)
