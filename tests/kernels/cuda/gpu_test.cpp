// The kernels on a GPU: every op in every type, compared with the same formulas as the CPU's set, in device memory that
// is poisoned before and guarded after each tensor. Skipped if there is no device, unless RANKSCOPE_REQUIRE_GPU=1.
// Sizes are those of the CPU's tests and of models; with RANKSCOPE_SMALL_SIZES=1 only the former (a checker is slow).
// With RANKSCOPE_EXACT_ALLOCATIONS=1 tensors have no guard, so that compute-sanitizer detects every access beyond their
// ends; with RANKSCOPE_UNWRITTEN_MEMORY=1 unset memory is not poisoned either, so that its initcheck detects reads of
// it. With RANKSCOPE_ONLY_OP=add the first test is of that op alone; "[names]" prints the existing ops.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/queue_device.hpp"
#include "kernels/product_choices.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cuda/bounds.hpp"
#include "tests/kernels/cuda/together.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string(value) == "1";
}

std::string only_op() {
  const char* value = std::getenv("RANKSCOPE_ONLY_OP");
  return value != nullptr ? value : "";
}

/// False if there is no device; CTest recognises the printed line as a skipped test.
bool device_here() {
  std::string reason;
  const auto devices = cuda_devices(&reason);
  if (!devices.empty()) {
    use_cuda_device(devices.front().index);
    return true;
  }
  if (is_set("RANKSCOPE_REQUIRE_GPU")) FAIL("RANKSCOPE_REQUIRE_GPU is set, but there is no GPU: " << reason);
  std::cout << "skipped: no GPU (" << reason << ")" << std::endl;
  return false;
}

class Gpu : public Elsewhere {
 public:
  std::byte* reserve(std::int64_t bytes) override {
    memory_.emplace_back(bytes);
    return memory_.back().data();
  }
  void release() override { memory_.clear(); }
  void put(std::byte* to, const void* from, std::int64_t bytes) override { stream_.copy(to, from, bytes); }
  void get(void* to, const std::byte* from, std::int64_t bytes) override {
    stream_.copy(to, from, bytes);
    stream_.synchronise();
  }
  void* stream_handle() override { return stream_.handle(); }
  std::int64_t guard_bytes() const override { return is_set("RANKSCOPE_EXACT_ALLOCATIONS") || leaves_unset() ? 0 : 64; }
  bool leaves_unset() const override { return is_set("RANKSCOPE_UNWRITTEN_MEMORY"); }

 private:
  DeviceStream stream_;
  std::vector<DeviceMemory> memory_;
};

}  // namespace

TEST_CASE("every op of the CUDA set computes on a GPU what its formula says") {
  if (!device_here()) return;
  Gpu gpu;
  const SetUnderTest set(cuda_kernels(), &gpu, gpu_bound, !is_set("RANKSCOPE_SMALL_SIZES"));
  const std::string only = only_op();
  int checked = 0;
  for (const Check& check : all_checks())
    for_each_op([&](std::string_view name, auto member) {
      if (name != check.op || (!only.empty() && name != only)) return;
      ++checked;
      for (DType type : (set.*member).types) {
        INFO(check.op << " in " << name_of(type));
        // If one op is refused, the others are still checked. If one accesses memory out of bounds, all later calls
        // fail; then RANKSCOPE_ONLY_OP can check the others.
        try {
          check.run(set, type);
        } catch (const std::exception& error) {
          FAIL_CHECK(check.op << " in " << name_of(type) << ": " << error.what());
        }
      }
    });
  INFO("RANKSCOPE_ONLY_OP=" << only);
  CHECK(checked > 0);
  std::cout << checked << (checked == 1 ? " op checked" : " ops checked") << std::endl;
}

// The test above with the other choice of each.
TEST_CASE(
    "products by the fastest of the library's algorithms, attention without cuDNN, and a layer norm's gradients by "
    "separate kernels compute on a GPU what their formulas say") {
  if (!device_here()) return;
  Gpu gpu;
  Options options;
  options.choices = std::make_shared<ProductChoices>();
  options.library_attention = options.fused_norm = false;
  const SetUnderTest set(cuda_kernels(options), &gpu, gpu_bound, !is_set("RANKSCOPE_SMALL_SIZES"));
  for (const DType type : {DType::bf16, DType::f32}) {
    INFO(name_of(type));
    check_linear_forward(set, type);
    check_linear_gelu_forward(set, type);
    check_linear_gelu_input_gradient(set, type);
    check_linear_weight_gradient(set, type);
    check_norm_backward(set, type);
    check_attention_forward(set, type);
    check_attention_backward(set, type);
  }
  CHECK_FALSE(options.choices->text().empty());
}

TEST_CASE("the ops that are checked, one a line", "[.][names]") {
  for (const Check& check : all_checks()) std::cout << "op: " << check.op << std::endl;
}

TEST_CASE("tensors updated in one launch on a GPU have the bits of tensors updated one by one") {
  if (!device_here()) return;
  check_together(cuda_kernels(), *cuda_device(cuda_devices().front().index));
}

TEST_CASE("streams wait for each other's events on the device, and events tell the time between them") {
  if (!device_here()) return;
  const std::int64_t bytes = 64 << 20;
  const DeviceMemory memory(bytes);
  const PinnedMemory host(bytes);
  DeviceStream writer, reader;
  DeviceEvent begun, written;
  begun.record(writer);
  writer.fill(memory.data(), 0x5A, bytes);
  written.record(writer);
  reader.wait_for(written);
  reader.copy(host.data(), memory.data(), bytes);
  reader.synchronise();
  CHECK(written.reached());
  CHECK(written.nanoseconds_since(begun) > 0);
  CHECK(host.data()[0] == std::byte{0x5A});
  CHECK(host.data()[bytes - 1] == std::byte{0x5A});
}
