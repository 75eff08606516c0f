# The GPU's kernels beside what the chip can do: cuda_kernels_bench.
if(RANKSCOPE_CUDA_FOUND)
  add_executable(cuda_kernels_bench ${CMAKE_CURRENT_LIST_DIR}/cuda_kernels_bench.cpp)
  target_link_libraries(cuda_kernels_bench PRIVATE rankscope_cuda rankscope_options)
endif()
