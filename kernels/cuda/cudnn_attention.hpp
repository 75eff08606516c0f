// Attention as graphs of cuDNN: the description for the library, without a device. Internal to kernels/cuda.
#pragma once
// The front-end is header-only. It searches the library's functions in the loaded libraries: without cuDNN, nothing is
// called.
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cuda_runtime.h>
#include <cudnn_frontend.h>

#include <cstdint>
#include <string>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

/// A tensor's number in its graph. Query, key and value are the parts of qkv.
enum class AttentionTensor : std::int64_t { query = 1, key, value, out, statistics, dout, dquery, dkey, dvalue };

/// Loads cuDNN once per process, and returns its file. Throws std::runtime_error if it is not available.
std::string load_cudnn();

/// Adds causal attention with fp32 statistics, forward or backward, for operands in the op's memory layout. The same
/// operands give bit-identical results.
void add_attention(cudnn_frontend::graph::Graph& graph, const AttentionSpec& spec, bool is_forward);

/// Finds the library's kernels for a graph. Throws std::runtime_error with the library's message if it has none.
/// Without a handle no GPU is needed: the graph then describes one (Graph::set_device_properties).
void find_kernels(cudnn_frontend::graph::Graph& graph, cudnnHandle_t handle);

/// Throws std::runtime_error with the front-end's message.
void check(cudnn_frontend::error_t error);

}  // namespace rankscope::kernels::cuda
