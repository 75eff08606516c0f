// Attention by cuDNN's fused kernels on the calling thread's GPU.
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernels/cuda/attention_library.hpp"
#include "kernels/cuda/cudnn_attention.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/geometry.hpp"

namespace rankscope::kernels::cuda {
namespace {

namespace fe = cudnn_frontend;

constexpr std::int64_t workspace_alignment = 256;
using enum AttentionTensor;
/// By the number of the tensor.
using Addresses = std::unordered_map<std::int64_t, void*>;

void add(Addresses& addresses, AttentionTensor tensor, const void* address) {
  // The front-end has one type of address for inputs and outputs.
  addresses[static_cast<std::int64_t>(tensor)] = const_cast<void*>(address);
}

/// The three parts of a tensor with the layout of qkv.
void add_parts(Addresses& addresses, const AttentionTensor (&parts)[3], const void* qkv, const AttentionSpec& spec) {
  const std::int64_t part = spec.width * bytes_of(spec.type);
  for (int i = 0; i < 3; ++i) add(addresses, parts[i], static_cast<const std::byte*>(qkv) + i * part);
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
    const auto run = [this, plan, spec](const ForwardOperands& o, const Stream& stream) {
      Addresses addresses;
      add(addresses, out, o.attended);
      add(addresses, statistics, o.log_sum_exp);
      add_parts(addresses, {query, key, value}, o.qkv, spec);
      return execute(*plan, addresses, stream);
    };
    return AttentionPass<ForwardOperands>{plan->scratch(), run};
  }

  std::optional<AttentionPass<BackwardOperands>> backward(const AttentionSpec& spec, std::string& why) override {
    const std::shared_ptr<Plan> plan = plan_of(spec, false, why);
    if (!plan) return std::nullopt;
    const auto run = [this, plan, spec](const BackwardOperands& o, const Stream& stream) {
      Addresses addresses;
      add(addresses, out, o.attended);
      add(addresses, dout, o.dattended);
      add(addresses, statistics, o.log_sum_exp);
      add_parts(addresses, {query, key, value}, o.qkv, spec);
      add_parts(addresses, {dquery, dkey, dvalue}, o.dqkv, spec);
      return execute(*plan, addresses, stream);
    };
    return AttentionPass<BackwardOperands>{plan->scratch(), run};
  }

 private:
  struct Plan {
    fe::graph::Graph graph;
    std::int64_t workspace_bytes = 0;
    /// Includes the bytes needed to begin at a multiple of the workspace's alignment.
    std::int64_t scratch() const { return workspace_bytes > 0 ? workspace_bytes + workspace_alignment : 0; }
  };
  using Key = std::tuple<DType, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool>;

  /// Ranks of this process with the same shape share a plan: the library needs about a second to create one.
  std::shared_ptr<Plan> plan_of(const AttentionSpec& spec, bool is_forward, std::string& why) {
    const std::lock_guard lock(mutex_);
    const Key shape{spec.type, spec.samples, spec.context, spec.heads, spec.width, is_forward};
    if (const auto made = plans_.find(shape); made != plans_.end()) return made->second;
    try {
      const auto plan = std::make_shared<Plan>();
      fe::graph::Graph& graph = plan->graph;
      graph.set_sm_version(compute_capability_);
      add_attention(graph, spec, is_forward);
      find_kernels(graph, handle_);
      check(graph.build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE));
      check(graph.get_workspace_size(plan->workspace_bytes));
      return plans_[shape] = plan;
    } catch (const std::exception& error) {  // the front-end also throws if the driver or a function is missing
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
  std::string file;
  try {
    file = load_cudnn();
    const std::vector<CudaDevice> devices = cuda_devices();
    const CudaDevice& device = devices.at(static_cast<std::size_t>(current_cuda_device()));
    return std::make_unique<Cudnn>(file, 10 * device.major + device.minor);
  } catch (const std::exception& error) {
    why = error.what() + (file.empty() ? "" : " (" + file + ")");
    return nullptr;
  }
}

}  // namespace rankscope::kernels::cuda
