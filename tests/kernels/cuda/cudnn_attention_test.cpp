// The graphs of attention, which cuDNN accepts or refuses for a described GPU; no GPU is needed.
#include "kernels/cuda/cudnn_attention.hpp"

#include <string_view>

#include "tests/catch.hpp"
#include "tests/judged.hpp"

using namespace rankscope;
using namespace rankscope::kernels;

namespace {

namespace fe = cudnn_frontend;

/// The device properties that cuDNN reads, of an H100 with 80 GB.
constexpr std::string_view h100 = R"({"deviceName": "NVIDIA H100 80GB HBM3", "deviceVer": 900, "driverVer": 13000,
  "cudaDeviceId": 0, "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1, "multiProcessorCount": 132,
  "warpSize": 32, "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32, "regsPerBlock": 65536,
  "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "l2CacheSize": 52428800, "smClockRateKHz": 1980000,
  "memClockRateKHz": 2619000, "totalGlobalMem": 85017755648})";

/// Only cuDNN 9.8 and newer accept a described device.
bool accepts_description() {
  cuda::load_cudnn();
  if (fe::detail::get_backend_version() >= 90800) return true;
  test::not_judged("graphs of attention: this cuDNN is older than 9.8 and needs a GPU for them");
  return false;
}

/// The number of kernels that cuDNN proposes for a pass.
std::int64_t kernels_of(const AttentionSpec& spec, bool is_forward) {
  const auto device = std::make_shared<fe::DeviceProperties>();
  cuda::check(device->deserialize({h100.begin(), h100.end()}));
  fe::graph::Graph graph;
  graph.set_device_properties(device);
  graph.set_sm_version(90);
  cuda::add_attention(graph, spec, is_forward);
  cuda::find_kernels(graph, nullptr);
  return graph.get_execution_plan_count();
}

}  // namespace

TEST_CASE("cuDNN has kernels for attention as the op has it in memory") {
  const DType type = GENERATE(DType::bf16, DType::f16);
  const bool is_forward = GENERATE(true, false);
  CAPTURE(is_forward);
  if (!accepts_description()) return;
  // GPT-2 124M and 1.5B, heads of 128, and sizes that are not multiples of a kernel's tile.
  const AttentionSpec spec =
      GENERATE_COPY(AttentionSpec{type, 16, 1024, 12, 768}, AttentionSpec{type, 4, 1024, 25, 1600},
                    AttentionSpec{type, 2, 2048, 16, 2048}, AttentionSpec{type, 3, 33, 4, 32});
  CAPTURE(spec.samples, spec.context, spec.heads, spec.width);
  CHECK(kernels_of(spec, is_forward) > 0);
}

TEST_CASE("what cuDNN has no kernel for is refused, with its words") {
  if (!accepts_description()) return;
  const AttentionSpec heads_of_twelve{DType::bf16, 2, 64, 4, 48};
  CHECK_THROWS_WITH(kernels_of(heads_of_twelve, true), Catch::Matchers::Contains("hidden_dim"));
}
