// Many tensors in one launch, on the emulated GPU.
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/queue_device.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cuda/emulated/runtime.hpp"
#include "tests/kernels/cuda/together.hpp"

using namespace rankscope;
using namespace rankscope::kernels;

TEST_CASE("tensors updated in one launch have the bits of tensors updated one by one") {
  test::check_together(cuda_kernels(), *cuda_device(0));
}

TEST_CASE("an update of any number of tensors is one launch, their norm two, and neither reserves memory") {
  const auto device = cuda_device(0);
  const auto queue = device->make_queue();
  const Memory memory = device->reserve(1 << 20);
  queue->fill(memory.get(), 0, 1 << 20);
  UpdateSpec update{UpdateRule::adamw, DType::bf16, {}};
  SquareNormsSpec norm{DType::f32, {}};
  for (int i = 0; i < 600; ++i) {
    const auto at = [&](int which, DType type) { return View{memory.get() + 1600 * i + 256 * which, type, {37}}; };
    update.tensors.push_back(
        {at(0, DType::bf16), at(1, DType::f32), at(4, DType::f32), {at(2, DType::f32), at(3, DType::f32)}});
    norm.tensors.push_back(at(4, DType::f32));
  }
  const KernelSet set = cuda_kernels();
  const auto updates = set.prepare(&KernelSet::update, update);
  const auto norms = set.prepare(&KernelSet::square_norms, norm);
  const Memory workspace = device->reserve(norms.workspace_bytes + 64);
  const Stream stream{workspace.get(), queue->handle()};
  const emulated::Counts before = emulated::counts();
  updates.launch({}, stream);
  CHECK(emulated::counts().launches == before.launches + 1);
  norms.launch(reinterpret_cast<double*>(memory.get() + 1600 * 600), stream);
  CHECK(emulated::counts().launches == before.launches + 3);
  CHECK(emulated::counts().allocations == before.allocations);
  queue->mark()->wait();
}

TEST_CASE("Adafactor's update of any number of tensors is seven launches, 8-bit Adam's two") {
  const auto device = cuda_device(0);
  const auto queue = device->make_queue();
  const Memory memory = device->reserve(1 << 20);
  queue->fill(memory.get(), 0, 1 << 20);
  UpdateSpec factored{UpdateRule::adafactor, DType::f32, {}};
  UpdateSpec bytes{UpdateRule::adam8bit, DType::f32, {}};
  for (int i = 0; i < 300; ++i) {
    const auto at = [&](int which, DType type) { return View{memory.get() + 3328 * i + 512 * which, type, {100}}; };
    UpdateOperand& o = factored.tensors.emplace_back();
    o.parameter = at(0, DType::f32);
    o.gradient = at(1, DType::f32);
    if (i % 2 == 0) o.parameter.shape = {4, 25};
    o.states = {at(2, DType::f32)};
    if (i % 2 == 0) o.states = {at(3, DType::f32), at(2, DType::f32)};
    UpdateOperand& u = bytes.tensors.emplace_back();
    u.parameter = at(0, DType::f32);
    u.gradient = at(1, DType::f32);
    const DType moments = i % 2 == 0 ? DType::u8 : DType::f32;
    u.states = {at(2, moments), at(3, moments)};
    if (i % 2 == 0) u.states = {at(2, moments), at(3, moments), at(4, DType::f32), at(5, DType::f32)};
  }
  const KernelSet set = cuda_kernels();
  const auto adafactor = set.prepare(&KernelSet::update, factored);
  const auto adam8bit = set.prepare(&KernelSet::update, bytes);
  const Memory workspace = device->reserve(adafactor.workspace_bytes);
  const Stream stream{workspace.get(), queue->handle()};
  const emulated::Counts before = emulated::counts();
  adafactor.launch({}, stream);
  CHECK(emulated::counts().launches == before.launches + 7);
  adam8bit.launch({}, stream);
  CHECK(emulated::counts().launches == before.launches + 9);
  CHECK(emulated::counts().allocations == before.allocations);
  queue->mark()->wait();
}
