if(TARGET rankscope_view_timeline)
  add_executable(timeline_bench timeline_bench.cpp)
  target_link_libraries(timeline_bench PRIVATE rankscope_options rankscope_view_timeline rankscope_store)
endif()
