# The GPU's kernels compared with the chip's limits: cuda_kernels_bench.
if(RANKSCOPE_CUDA_FOUND)
  add_executable(cuda_kernels_bench ${CMAKE_CURRENT_LIST_DIR}/cuda_kernels_bench.cpp)
  target_link_libraries(cuda_kernels_bench PRIVATE rankscope_cuda rankscope_options)
endif()
