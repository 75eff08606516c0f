// Optimizers on the host as in DeepSpeed's ZeRO-Offload, computed from bytes and two bandwidths.
#include "engine/predict/cost/host_copies.hpp"

#include <algorithm>

#include "engine/plan/model/model.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/fold/folded.hpp"
#include "engine/predict/network/network.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

constexpr double pcie = 2e9, host_memory = 50e9;
constexpr int layers = 6;

Scenario offloaded(int micro_batches, bool overlap) {
  Scenario s = parse_scenario("[cluster]\nspec = \"v100-dgx2h\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = {"gpt", layers, 1024, 16, 256, 512, true, 0.0};
  s.plan.precision = "fp16";
  s.plan.recompute = "blocks";
  s.plan.offload = "optimizer";
  s.plan.bucket_mib = 1;
  s.plan.micro_batches = micro_batches;
  s.train.global_batch = 2 * micro_batches;
  s.cluster.software.host_gradients = true;
  s.cluster.software.overlap = overlap;
  s.cluster.host_bandwidth = pcie;
  s.cluster.host_memory_bandwidth = host_memory;
  return s;
}

double elements(const Scenario& s) { return static_cast<double>(make_model(s).parameter_count()); }

std::int64_t bytes(const StageMemory& memory, MemoryClass of) {
  return memory.peak_by_class[static_cast<std::size_t>(of)];
}

}  // namespace

TEST_CASE(
    "a step with its optimizer on the host is compute, copies of gradients and of sums both ways, and the update") {
  for (const int m : {1, 2, 5}) {
    const Scenario s = offloaded(m, false);
    const FoldedStep step = fold_step(s);
    const double e = elements(s);
    // Two bytes per gradient; for every micro-batch except the first, two bytes of the sum return; the last sum is
    // fp32. AdamW: 12 bytes of states, read and written; gradients are read, and before that divided by the scale; and
    // two bytes are sent.
    const double sent = e * (2.0 * m + 2.0 * (m - 1) + 2) / pcie;
    const double update = std::max(e * (4 + 8 + 24 + 2) / host_memory, e * 2 / pcie);
    CHECK(step.optimizer == Approx(sent + update));
    CHECK(step.seconds == Approx(step.compute + step.recompute + step.optimizer));
    Scenario on_device = s;
    on_device.plan.offload = "none";
    CHECK(step.compute == Approx(fold_step(on_device).compute));
  }
}

TEST_CASE("if gradients' copies overlap with compute, only what is longer than a backward is exposed") {
  const int m = 3;
  Scenario s = offloaded(m, true);
  const double slow = fold_step(s).optimizer, alone = fold_step(offloaded(m, false)).optimizer;
  CHECK(slow < alone);
  s.cluster.host_bandwidth = 1e18;
  s.cluster.host_memory_bandwidth = 1e18;
  const FoldedStep free = fold_step(s);
  CHECK(free.optimizer == Approx(0).margin(1e-6 * free.seconds));
  // Much slower than any backward: each micro-batch exposes its copies except for the time of its backward.
  s.cluster.host_bandwidth = 1e6;
  const double backwards = [&] {
    const BlockSeconds block = fold_block(s);
    return m * layers * (block.backward_seconds() + block.forward);
  }();
  CHECK(elements(s) * (2 + 4 + 4 + 2 + 2) / 1e6 - fold_step(s).optimizer == Approx(backwards).epsilon(0.25));
}

TEST_CASE(
    "on the host are states, sums and gradients of the update, and on the device two buckets and one parameter's") {
  const Scenario s = offloaded(2, false);
  Scenario on_device = s;
  on_device.plan.offload = "none";
  const StageMemory there = fold_step(s).memory.front(), here = fold_step(on_device).memory.front();
  const double e = elements(s), largest = 4.0 * 1024 * 1024;
  CHECK(bytes(there, MemoryClass::host) == static_cast<std::int64_t>(e * (12 + 2 + 4)));
  CHECK(bytes(there, MemoryClass::optimizer) == 0);
  CHECK(bytes(there, MemoryClass::parameters) == bytes(here, MemoryClass::parameters));
  CHECK(bytes(there, MemoryClass::activations) == bytes(here, MemoryClass::activations));
  CHECK(bytes(there, MemoryClass::gradients) == static_cast<std::int64_t>(2 * 2 * largest + (2 + 4) * largest));
  CHECK(bytes(here, MemoryClass::host) == 0);
}

TEST_CASE("inputs of blocks on the host take memory for two, and a copy there and one back") {
  Scenario s = offloaded(3, false);
  const FoldedStep before = fold_step(s);
  s.cluster.software.host_checkpoints = true;
  const FoldedStep after = fold_step(s);
  const double input = 2.0 * 256 * 1024 * 2;
  CHECK(bytes(before.memory.front(), MemoryClass::activations) -
            bytes(after.memory.front(), MemoryClass::activations) ==
        static_cast<std::int64_t>((layers - 2) * input));
  CHECK(bytes(after.memory.front(), MemoryClass::host) - bytes(before.memory.front(), MemoryClass::host) ==
        static_cast<std::int64_t>(layers * input));
  CHECK(after.seconds - before.seconds == Approx(3 * 2 * layers * input / pcie));
}

TEST_CASE(
    "inputs of blocks that are split over tensor ranks take a share of the memory, and a gather in every backward") {
  const int m = 3;
  Scenario s = offloaded(m, false);
  s.plan.offload = "none";
  s.plan.tensor = 4;
  const FoldedStep before = fold_step(s);
  s.cluster.software.split_checkpoints = true;
  const FoldedStep after = fold_step(s);
  const double input = 2.0 * 256 * 1024 * 2;
  const double gather =
      collective_seconds(s.cluster, Route::best, OpKind::all_gather, std::vector<int>{0, 1, 2, 3}, input);
  CHECK(bytes(before.memory.front(), MemoryClass::activations) -
            bytes(after.memory.front(), MemoryClass::activations) ==
        static_cast<std::int64_t>((layers - 1) * input * 3 / 4));
  CHECK(after.seconds - before.seconds == Approx(m * layers * gather));
  CHECK(after.tensor - before.tensor == Approx(m * layers * gather));
  double gathered = 0;
  for (const FoldedTraffic& row : fold_traffic(s))
    if (row.kind == OpKind::all_gather && row.purpose == Purpose::tensor) gathered += row.bytes_per_rank;
  CHECK(gathered == Approx(m * layers * input * 3 / 4));
  // Rows that sequence parallelism has already divided are kept unchanged.
  s.plan.sequence_parallel = true;
  const double seconds = fold_step(s).seconds;
  s.cluster.software.split_checkpoints = false;
  CHECK(fold_step(s).seconds == seconds);
}

TEST_CASE("copies between device and host are reported as traffic") {
  const int m = 4;
  const Scenario s = offloaded(m, false);
  double copied = 0;
  for (const FoldedTraffic& row : fold_traffic(s))
    if (row.purpose == Purpose::offload) copied += row.bytes_per_rank;
  CHECK(copied == Approx(elements(s) * (2.0 * m + 2.0 * (m - 1) + 2 + 2)));
}

TEST_CASE("data ranks with shards send and update only their share") {
  Scenario s = offloaded(1, false);
  const double alone = fold_step(s).optimizer;
  s.plan.data = 4;
  s.plan.zero = 2;
  s.train.global_batch = 8;
  const FoldedStep step = fold_step(s);
  CHECK(bytes(step.memory.front(), MemoryClass::host) == Approx(elements(s) / 4 * (12 + 2 + 4)).epsilon(1e-6));
  const FoldedStep on_device = [&] {
    Scenario device = s;
    device.plan.offload = "none";
    return fold_step(device);
  }();
  CHECK(step.zero == Approx(on_device.zero));
  CHECK(step.optimizer == Approx(alone / 4).epsilon(0.02));
}

TEST_CASE("this engine's own offload, whose host updates during the next step, is not folded") {
  Scenario s = offloaded(2, false);
  s.cluster.software.host_gradients = false;
  CHECK_THROWS_WITH(fold_step(s), ContainsText("overlaps with the next step"));
}
