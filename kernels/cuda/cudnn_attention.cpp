#include "kernels/cuda/cudnn_attention.hpp"

#include <dlfcn.h>

#include <memory>
#include <mutex>
#include <stdexcept>

#include "kernels/cuda/attention.hpp"

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // for the front-end, which only declares it
}

namespace rankscope::kernels::cuda {
namespace {

namespace fe = cudnn_frontend;
using enum AttentionTensor;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/// Tensors in their memory layout, viewed as [samples, heads, context, depth]: heads are columns of a row.
class Described {
 public:
  Described(fe::graph::Graph& graph, const AttentionSpec& spec)
      : graph_(graph), spec_(spec), depth_(spec.width / spec.heads) {}

  Tensor input(AttentionTensor number, std::int64_t row) const {
    const Tensor tensor = graph_.tensor(fe::graph::Tensor_attributes());
    describe(*tensor, number, row);
    return tensor;
  }
  Tensor input_statistics() const {
    const Tensor tensor = graph_.tensor(fe::graph::Tensor_attributes());
    describe_statistics(*tensor);
    return tensor;
  }
  void output(const Tensor& tensor, AttentionTensor number, std::int64_t row) const {
    describe(tensor->set_output(true), number, row);
  }
  void output_statistics(const Tensor& tensor) const { describe_statistics(tensor->set_output(true)); }

  std::int64_t row() const { return spec_.width; }
  std::int64_t qkv_row() const { return 3 * spec_.width; }
  float scale() const { return static_cast<float>(AttentionShape(spec_).root()); }

 private:
  void describe(fe::graph::Tensor_attributes& tensor, AttentionTensor number, std::int64_t row) const {
    tensor.set_uid(static_cast<std::int64_t>(number))
        .set_dim({spec_.samples, spec_.heads, spec_.context, depth_})
        .set_stride({spec_.context * row, depth_, row, 1})
        .set_data_type(spec_.type == DType::bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF);
  }
  void describe_statistics(fe::graph::Tensor_attributes& tensor) const {
    tensor.set_uid(static_cast<std::int64_t>(statistics))
        .set_dim({spec_.samples, spec_.heads, spec_.context, 1})
        .set_stride({spec_.heads * spec_.context, spec_.context, 1, 1})
        .set_data_type(fe::DataType_t::FLOAT);
  }

  fe::graph::Graph& graph_;
  const AttentionSpec& spec_;
  std::int64_t depth_;
};

void add_forward(fe::graph::Graph& graph, const AttentionSpec& spec) {
  const Described d(graph, spec);
  const auto attributes =
      fe::graph::SDPA_attributes().set_generate_stats(true).set_causal_mask(true).set_attn_scale(d.scale());
  const auto [result, stats] =
      graph.sdpa(d.input(query, d.qkv_row()), d.input(key, d.qkv_row()), d.input(value, d.qkv_row()), attributes);
  d.output(result, out, d.row());
  d.output_statistics(stats);
}

void add_backward(fe::graph::Graph& graph, const AttentionSpec& spec) {
  const Described d(graph, spec);
  const auto attributes =
      fe::graph::SDPA_backward_attributes().set_causal_mask(true).set_attn_scale(d.scale()).set_deterministic_algorithm(
          true);  // no sums by atomics
  const auto [dq, dk, dv] =
      graph.sdpa_backward(d.input(query, d.qkv_row()), d.input(key, d.qkv_row()), d.input(value, d.qkv_row()),
                          d.input(out, d.row()), d.input(dout, d.row()), d.input_statistics(), attributes);
  d.output(dq, dquery, d.qkv_row());
  d.output(dk, dkey, d.qkv_row());
  d.output(dv, dvalue, d.qkv_row());
}

}  // namespace

std::string load_cudnn() {
  static std::mutex opening;
  const std::lock_guard lock(opening);
  constexpr const char* name = "libcudnn.so.9";
  if (fe::cudnn_dlhandle == nullptr) fe::cudnn_dlhandle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (fe::cudnn_dlhandle == nullptr) fe::cudnn_dlhandle = dlopen(RANKSCOPE_CUDNN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (fe::cudnn_dlhandle == nullptr)
    throw std::runtime_error(std::string("it was not found (") + name + ", " + RANKSCOPE_CUDNN_LIBRARY + ")");
  Dl_info info{};
  return dladdr(dlsym(fe::cudnn_dlhandle, "cudnnCreate"), &info) != 0 ? info.dli_fname : name;
}

void check(fe::error_t error) {
  if (error.is_bad()) throw std::runtime_error(error.get_message());
}

void add_attention(fe::graph::Graph& graph, const AttentionSpec& spec, bool is_forward) {
  graph.set_intermediate_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
  is_forward ? add_forward(graph, spec) : add_backward(graph, spec);
}

void find_kernels(fe::graph::Graph& graph, cudnnHandle_t handle) {
  check(graph.validate());
  check(graph.build_operation_graph(handle));
  check(graph.create_execution_plans({fe::HeurMode_t::A}));
  check(graph.check_support());
}

}  // namespace rankscope::kernels::cuda
