// Attention by cuDNN's fused kernels, through its header-only front-end, which looks for the functions of the library
// in what is loaded here: where cuDNN is not, nothing is called.
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cuda_runtime.h>
#include <cudnn_frontend.h>
#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernels/cuda/attention_library.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/geometry.hpp"

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // the front-end's, which declares it only
}

namespace rankscope::kernels::cuda {
namespace {

namespace fe = cudnn_frontend;

constexpr std::int64_t workspace_alignment = 256;
/// A tensor's number in its graph.
enum Uid : std::int64_t { query = 1, key, value, out, statistics, dout, dquery, dkey, dvalue };

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Addresses = std::unordered_map<std::int64_t, void*>;

/// Throws with the front-end's own words.
void check(fe::error_t error) {
  if (error.is_bad()) throw std::runtime_error(error.get_message());
}

/// Tensors as they lie in memory, seen as [samples, heads, context, depth]: heads are columns of a row.
class Described {
 public:
  Described(fe::graph::Graph& graph, const AttentionSpec& spec)
      : graph_(graph), spec_(spec), depth_(spec.width / spec.heads) {}

  Tensor input(Uid uid, std::int64_t row) const {
    const Tensor tensor = graph_.tensor(fe::graph::Tensor_attributes());
    describe(*tensor, uid, row);
    return tensor;
  }
  Tensor input_statistics() const {
    const Tensor tensor = graph_.tensor(fe::graph::Tensor_attributes());
    describe_statistics(*tensor);
    return tensor;
  }
  void output(const Tensor& tensor, Uid uid, std::int64_t row) const { describe(tensor->set_output(true), uid, row); }
  void output_statistics(const Tensor& tensor) const { describe_statistics(tensor->set_output(true)); }

  std::int64_t row() const { return spec_.width; }
  std::int64_t qkv_row() const { return 3 * spec_.width; }
  float scale() const { return static_cast<float>(AttentionShape(spec_).root()); }

 private:
  void describe(fe::graph::Tensor_attributes& tensor, Uid uid, std::int64_t row) const {
    tensor.set_uid(uid)
        .set_dim({spec_.samples, spec_.heads, spec_.context, depth_})
        .set_stride({spec_.context * row, depth_, row, 1})
        .set_data_type(spec_.type == DType::bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF);
  }
  void describe_statistics(fe::graph::Tensor_attributes& tensor) const {
    tensor.set_uid(statistics)
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

/// The three parts of a tensor that lies as qkv does.
void add_parts(Addresses& addresses, void* qkv, const AttentionSpec& spec, const Uid (&uids)[3]) {
  const std::int64_t part = spec.width * bytes_of(spec.type);
  for (int i = 0; i < 3; ++i) addresses[uids[i]] = static_cast<std::byte*>(qkv) + i * part;
}

class Cudnn final : public AttentionLibrary {
 public:
  Cudnn(std::string file, int compute_capability) : file_(std::move(file)), compute_capability_(compute_capability) {
    if (fe::detail::create_handle(&handle_) != CUDNN_STATUS_SUCCESS) throw std::runtime_error("it cannot be opened");
  }
  ~Cudnn() override {
    plans_.clear();
    fe::detail::destroy_handle(handle_);
  }
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  std::string text() const override {
    const std::size_t version = fe::detail::get_backend_version();  // 91900: 9.19.0
    std::string text = "cuDNN ";
    text.append(std::to_string(version / 10000)).append(".").append(std::to_string(version / 100 % 100)).append(".");
    return text.append(std::to_string(version % 100)).append(" (").append(file_).append(")");
  }

  std::optional<AttentionPass<ForwardOperands>> forward(const AttentionSpec& spec, std::string& why) override {
    const std::shared_ptr<Plan> plan = plan_of(spec, true, why);
    if (!plan) return std::nullopt;
    return AttentionPass<ForwardOperands>{plan->scratch(),
                                          [this, plan, spec](const ForwardOperands& o, const Stream& stream) {
                                            Addresses addresses{{out, o.attended}, {statistics, o.log_sum_exp}};
                                            add_parts(addresses, const_cast<void*>(o.qkv), spec, {query, key, value});
                                            return execute(*plan, addresses, stream);
                                          }};
  }

  std::optional<AttentionPass<BackwardOperands>> backward(const AttentionSpec& spec, std::string& why) override {
    const std::shared_ptr<Plan> plan = plan_of(spec, false, why);
    if (!plan) return std::nullopt;
    return AttentionPass<BackwardOperands>{plan->scratch(),
                                           [this, plan, spec](const BackwardOperands& o, const Stream& stream) {
                                             Addresses addresses{{out, const_cast<void*>(o.attended)},
                                                                 {dout, const_cast<void*>(o.dattended)},
                                                                 {statistics, const_cast<void*>(o.log_sum_exp)}};
                                             add_parts(addresses, const_cast<void*>(o.qkv), spec, {query, key, value});
                                             add_parts(addresses, o.dqkv, spec, {dquery, dkey, dvalue});
                                             return execute(*plan, addresses, stream);
                                           }};
  }

 private:
  struct Plan {
    fe::graph::Graph graph;
    std::int64_t workspace_bytes = 0;
    /// With what it takes to begin at a multiple of the workspace's alignment.
    std::int64_t scratch() const { return workspace_bytes > 0 ? workspace_bytes + workspace_alignment : 0; }
  };
  using Key = std::tuple<DType, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool>;

  /// Ranks of this process with the same shape share a plan: making one takes the library about a second.
  std::shared_ptr<Plan> plan_of(const AttentionSpec& spec, bool is_forward, std::string& why) {
    const std::lock_guard lock(mutex_);
    const Key shape{spec.type, spec.samples, spec.context, spec.heads, spec.width, is_forward};
    if (const auto made = plans_.find(shape); made != plans_.end()) return made->second;
    try {
      const auto plan = std::make_shared<Plan>();
      fe::graph::Graph& graph = plan->graph;
      graph.set_intermediate_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
      graph.set_sm_version(compute_capability_);
      is_forward ? add_forward(graph, spec) : add_backward(graph, spec);
      check(graph.validate());
      check(graph.build_operation_graph(handle_));
      check(graph.create_execution_plans({fe::HeurMode_t::A}));
      check(graph.check_support());
      check(graph.build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE));
      check(graph.get_workspace_size(plan->workspace_bytes));
      return plans_[shape] = plan;
    } catch (const std::exception& error) {  // the front-end also throws where the driver or a function is missing
      why = error.what();
      return nullptr;
    }
  }

  bool execute(const Plan& plan, Addresses& addresses, const Stream& stream) {
    const auto begin = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(stream.workspace));
    auto* const workspace = reinterpret_cast<void*>(pieces_of(begin, workspace_alignment) * workspace_alignment);
    const std::lock_guard lock(mutex_);  // a handle has one stream at a time
    return fe::detail::set_stream(handle_, static_cast<cudaStream_t>(stream.handle)) == CUDNN_STATUS_SUCCESS &&
           plan.graph.execute(handle_, addresses, workspace).is_good();
  }

  const std::string file_;
  const int compute_capability_;
  cudnnHandle_t handle_ = nullptr;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Plan>> plans_;
};

}  // namespace

std::unique_ptr<AttentionLibrary> find_attention_library(std::string& why) {
  static std::mutex opening;
  const std::lock_guard lock(opening);
  constexpr const char* name = "libcudnn.so.9";
  if (fe::cudnn_dlhandle == nullptr) fe::cudnn_dlhandle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (fe::cudnn_dlhandle == nullptr) fe::cudnn_dlhandle = dlopen(RANKSCOPE_CUDNN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (fe::cudnn_dlhandle == nullptr) {
    why = std::string("it was not found (") + name + ", " + RANKSCOPE_CUDNN_LIBRARY + ")";
    return nullptr;
  }
  std::string file = name;
  Dl_info info{};
  if (dladdr(dlsym(fe::cudnn_dlhandle, "cudnnCreate"), &info) != 0) file = info.dli_fname;
  try {
    const std::vector<CudaDevice> devices = cuda_devices();
    const CudaDevice& device = devices.at(static_cast<std::size_t>(current_cuda_device()));
    return std::make_unique<Cudnn>(file, 10 * device.major + device.minor);
  } catch (const std::exception& error) {
    why = std::string(error.what()) + " (" + file + ")";
    return nullptr;
  }
}

}  // namespace rankscope::kernels::cuda
