if(TARGET rankscope_shell)
  add_executable(live_bench live_bench.cpp)
  target_link_libraries(live_bench PRIVATE rankscope_options rankscope_shell rankscope_stream rankscope_relay)
endif()
