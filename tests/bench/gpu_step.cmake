# Steps of GPT-2 on one GPU: gpu_step; and gpu_peer_pytorch.py, the same in PyTorch.
if(RANKSCOPE_CUDA_FOUND)
  find_package(nlohmann_json REQUIRED)
  add_executable(gpu_step ${CMAKE_CURRENT_LIST_DIR}/gpu_step.cpp)
  target_link_libraries(gpu_step PRIVATE rankscope_run rankscope_cuda rankscope_options nlohmann_json::nlohmann_json)
endif()
