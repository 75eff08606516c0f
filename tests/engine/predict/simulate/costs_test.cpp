#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "engine/predict/network/link.hpp"

#include <algorithm>
#include <cmath>

#include "engine/plan/collective/cost.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/calibration.hpp"
#include "tests/catch.hpp"
#include "tests/engine/predict/simulate/pipelines.hpp"

using namespace rankscope;

namespace {

Scenario laptop(int pipeline = 2, const std::string& schedule = "1f1b") {
  Scenario s;
  s.title = "costs";
  s.model = {"gpt", 4, 32, 2, 16, 64, true, 0.0};
  s.plan.pipeline = pipeline;
  s.plan.schedule = schedule;
  s.plan.micro_batches = 4;
  s.train.global_batch = 8;
  s.train.clip = 1.0;
  s.cluster.spec = "test";
  s.cluster.peak_flops_fp32 = 1e9;
  s.cluster.memory_bandwidth = 1e9;
  s.cluster.devices_per_node = 2;
  s.cluster.intra_latency_s = 1e-6;
  s.cluster.intra_bandwidth = 1e9;
  s.cluster.inter_latency_s = 20e-6;
  s.cluster.inter_bandwidth = 1e8;
  return s;
}

std::int64_t chunk_ns(const StepProgram& step, const Costs& costs, int chunk, OpKind kind) {
  const RankProgram program = step.program_for(chunk);
  std::int64_t ns = 0;
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    if (f.kind == kind && f.chunk == chunk && f.micro_batch == 0) ns += costs.compute_ns(program, op);
  }
  return ns;
}

}  // namespace

TEST_CASE("unit costs: the segments of any chunk add up to one unit forward and two backward, to the nanosecond") {
  const int pipeline = GENERATE(1, 2, 3, 4);
  const StepProgram step = compile(laptop(pipeline));
  const std::int64_t unit = 1'000'003;  // a prime, so that the parts need rounding
  const Costs costs = unit_costs(step.model, step.first_segment, unit);
  for (int chunk = 0; chunk < pipeline; ++chunk) {
    CHECK(chunk_ns(step, costs, chunk, OpKind::forward) == unit);
    CHECK(chunk_ns(step, costs, chunk, OpKind::backward) == 2 * unit);
  }
}

TEST_CASE("compiled programs with unit costs have the textbook's bubble, optimizer and clipping included") {
  const std::string schedule = GENERATE("naive", "gpipe", "1f1b");
  const int pipeline = GENERATE(1, 2, 4);
  CAPTURE(schedule, pipeline);
  const StepProgram step = compile(laptop(pipeline, schedule));
  const std::int64_t unit = 1'000'000;
  const Simulation s = simulate(step.all_programs(), step.grid, unit_costs(step.model, step.first_segment, unit), 3);
  const int m = 4;
  CHECK(s.end_ns == 3 * (schedule == "naive" ? 3 * unit * m * pipeline : 3 * unit * (m + pipeline - 1)));
}

TEST_CASE(
    "compiled interleaved and zero-bubble programs have their schedule's ideal bubble, with messages and memory") {
  // Reused memory and messages that wait for their receiver must not delay anything.
  const std::string schedule = GENERATE("interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v");
  const int pipeline = GENERATE(1, 2, 4, 8);
  const int m = pipeline * GENERATE(1, 2, 3);
  CAPTURE(schedule, pipeline, m);
  Scenario scenario = laptop(pipeline, schedule);
  if (schedule == "interleaved" || schedule == "zb-v") scenario.plan.virtual_stages = 2;
  scenario.model.layers = scenario.plan.chunks();
  scenario.plan.micro_batches = m;
  scenario.train.global_batch = m;
  const StepProgram step = compile(scenario);
  const std::int64_t unit = 1'000'000;
  const Simulation s = simulate(step.all_programs(), step.grid, unit_costs(step.model, step.first_segment, unit), 3);
  const double busy = 3.0 * m * scenario.plan.virtual_stages * unit;
  CHECK(static_cast<double>(s.end_ns) == Approx(3 * busy / (1 - ideal_bubble(step.schedule))));
}

TEST_CASE("modelled costs are the roofline: the slower of FLOPs over peak and bytes over bandwidth, plus overhead") {
  Scenario scenario = laptop();
  scenario.cluster.op_overhead_s = 3e-6;
  const StepProgram step = compile(scenario);
  const RankProgram program = step.program_for(0);
  const Costs costs = modelled_costs(scenario, step.model);
  bool memory_bound = false, compute_bound = false;
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    if (!is_model_compute(f.kind)) continue;
    for (const SegmentSpec& s : step.model.segments) {
      if (s.kind != f.segment || s.block != f.block) continue;
      const bool forward = f.kind == OpKind::forward;
      const double flops = forward ? s.forward_flops : s.input_gradient_flops + s.weight_gradient_flops;
      const double bytes = forward ? s.forward_bytes : s.backward_bytes;
      (flops > bytes ? compute_bound : memory_bound) = true;  // both rates are 1e9
      CHECK(static_cast<double>(costs.compute_ns(program, op)) == Approx(std::max(flops, bytes) + 3000).margin(1));
    }
  }
  CHECK(memory_bound);
  CHECK(compute_bound);
}

TEST_CASE("a folded op costs the sum of its segments") {
  const std::string schedule = GENERATE("1f1b", "zb-h1");
  const Scenario scenario = laptop(2, schedule);
  const StepProgram step = compile(scenario);
  const Costs costs = modelled_costs(scenario, step.model);
  const std::pair<const char*, OpKind> kinds[] = {
      {"F", OpKind::forward}, {"B", OpKind::backward}, {"I", OpKind::input_gradient}, {"W", OpKind::weight_gradient}};
  for (int chunk = 0; chunk < 2; ++chunk)
    for (const auto& [letter, kind] : kinds) {
      if (kind != OpKind::forward && (kind == OpKind::backward) != (schedule == "1f1b")) continue;
      RankProgram folded;
      folded.rank = chunk;
      const OpIndex op = add_op(folded, std::string(letter) + ":c" + std::to_string(chunk) + ":m0");
      CAPTURE(letter, chunk);
      CHECK(costs.compute_ns(folded, folded.ops[op]) == chunk_ns(step, costs, chunk, kind));
    }
}

TEST_CASE("the slow rank of a fault takes its factor longer for the model's compute") {
  Scenario scenario = laptop();
  const StepProgram step = compile(scenario);
  const Costs plain = modelled_costs(scenario, step.model);
  scenario.fault.slow_rank = 1;
  scenario.fault.slow_factor = 3;
  const Costs slow = modelled_costs(scenario, step.model);
  CHECK(chunk_ns(step, slow, 0, OpKind::forward) == chunk_ns(step, plain, 0, OpKind::forward));
  CHECK(chunk_ns(step, slow, 1, OpKind::forward) == 3 * chunk_ns(step, plain, 1, OpKind::forward));
}

TEST_CASE("a cluster without the figure that is needed is refused by that figure's name") {
  Scenario scenario = laptop();
  const StepProgram step = compile(scenario);
  scenario.cluster.memory_bandwidth = 0;
  CHECK(message_of([&] { modelled_costs(scenario, step.model); }).find("memory_bandwidth") != std::string::npos);
}

TEST_CASE("ranks of one node communicate over the intra link, others over the inter link") {
  const ClusterSpec cluster = laptop().cluster;
  CHECK(cluster_link(cluster, 0, 1).latency_ns == 1000);
  CHECK(cluster_link(cluster, 1, 2).latency_ns == 20'000);
  CHECK(cluster_link(cluster, 2, 3).transfer_ns(1000) == 1000 + 1000);
  CHECK(cluster_link(cluster, 3, 0).transfer_ns(1000) == 20'000 + 10'000);
}

TEST_CASE("a ring runs at the pace of its slowest link") {
  const auto link = [](int from, int to) { return cluster_link(laptop().cluster, from, to); };
  const int near[] = {0, 1}, far[] = {0, 1, 2, 3};
  CHECK(ring_ns(OpKind::all_reduce, near, 4000, link) == 2 * 1000 + 4000);
  CHECK(ring_ns(OpKind::all_reduce, far, 4000, link) == 6 * 20'000 + 6 * 10'000);
  CHECK(ring_ns(OpKind::reduce_scatter, far, 4000, link) == 3 * 20'000 + 3 * 10'000);
  CHECK(ring_ns(OpKind::all_gather, far, 1000, link) == 3 * 20'000 + 3 * 10'000);
}

TEST_CASE("the ring's closed form is what its transfer list takes, phase by phase") {
  const OpKind kind = GENERATE(OpKind::broadcast, OpKind::scatter, OpKind::reduce, OpKind::all_reduce, OpKind::gather,
                               OpKind::all_gather, OpKind::reduce_scatter, OpKind::all_to_all);
  const auto link = [](int, int) { return Link{700, 0.5}; };
  for (int n = 1; n <= 9; ++n) {
    std::vector<int> members;
    for (int r = 0; r < n; ++r) members.push_back(r);
    CAPTURE(name_of(kind), n);
    CHECK(ring_ns(kind, members, 2520 * n, link) == algorithm_ns(kind, Algorithm::ring, members, 2520 * n, link));
  }
}

TEST_CASE("a naive all-reduce costs n/1 of what a ring moves, so it is slower for large tensors") {
  const auto link = [](int, int) { return Link{0, 1.0}; };
  const int members[] = {0, 1, 2, 3};
  CHECK(algorithm_ns(OpKind::all_reduce, Algorithm::naive, members, 4000, link) == 6 * 4000);
  CHECK(algorithm_ns(OpKind::all_reduce, Algorithm::ring, members, 4000, link) == 6 * 1000);
}

TEST_CASE("a calibrated op costs the median of its signature's samples; others cost what the model says") {
  const Scenario scenario = laptop();
  const StepProgram step = compile(scenario);
  const auto programs = step.all_programs();
  const auto op_at = [&](const char* token) {
    for (OpIndex i = 0; i < programs[0].ops.size(); ++i)
      if (programs[0].ops[i].id == parse_token(token)) return i;
    FAIL("no op " << token);
    return OpIndex{0};
  };
  // The attention of block 0 and of block 1 is equal work, in any micro-batch.
  const OpIndex a = op_at("F:c0:m0:b0.attention"), b = op_at("F:c0:m1:b1.attention"), c = op_at("F:c0:m2:b0.attention");
  CHECK(signature_of(programs[0], programs[0].ops[a]) == signature_of(programs[0], programs[0].ops[b]));
  const Calibration calibration = calibrate(programs, {{0, a, 50}, {0, b, 70}, {0, c, 900}}, {11, 2.0});
  REQUIRE(calibration.ops.size() == 1);
  const Costs costs = calibrated_costs(calibration, modelled_costs(scenario, step.model));
  CHECK(costs.compute_ns(programs[0], programs[0].ops[b]) == 70);
  CHECK(costs.link(0, 1).latency_ns == 11);
  const OpIndex other = op_at("F:c0:m0:b0.qkv");
  CHECK(costs.compute_ns(programs[0], programs[0].ops[other]) ==
        modelled_costs(scenario, step.model).compute_ns(programs[0], programs[0].ops[other]));
}

TEST_CASE("signatures distinguish ops that differ in kind, segment, shape, type or access") {
  RankProgram program;
  const auto op_with = [&](const char* token, Shape shape, DType type, Access access) {
    const OpIndex at = add_op(program, token);
    program.buffers.push_back({"x", BufferRole::activation, MemoryClass::activations, type, shape});
    program.ops[at].uses = {{static_cast<BufferIndex>(program.buffers.size() - 1), access}};
    return signature_of(program, program.ops[at]);
  };
  const OpSignature base = op_with("B:c0:m0:b0.up", {8, 4}, DType::f32, Access::write);
  CHECK(base == op_with("B:c3:m5:b9.up", {8, 4}, DType::f32, Access::write));
  CHECK(base != op_with("F:c0:m0:b0.up", {8, 4}, DType::f32, Access::write));
  CHECK(base != op_with("B:c0:m0:b0.down", {8, 4}, DType::f32, Access::write));
  CHECK(base != op_with("B:c0:m0:b0.up", {4, 8}, DType::f32, Access::write));
  CHECK(base != op_with("B:c0:m0:b0.up", {32}, DType::f32, Access::write));
  CHECK(base != op_with("B:c0:m0:b0.up", {8, 4}, DType::bf16, Access::write));
  CHECK(base != op_with("B:c0:m0:b0.up", {8, 4}, DType::f32, Access::accumulate));
}

TEST_CASE("an update costs the bytes that its optimizer's rule moves: gradient, parameter twice, each state twice") {
  struct Row {
    const char* optimizer;
    double bytes;  ///< of one matrix of 128 × 32 and one vector of 128, fp32
  };
  const double n = 128 * 32, v = 128;
  for (const Row& row : {Row{"sgd", 12 * (n + v)}, Row{"momentum", 20 * (n + v)}, Row{"adamw", 28 * (n + v)},
                         // Three passes over gradients, two to read parameters and one to write them; row and column.
                         Row{"adafactor", 24 * (n + v) + 2 * 4 * (128 + 32) + 2 * 4 * v},
                         // One byte for each moment, 16 blocks with two scales; the vector's moments are not quantised.
                         Row{"adam8bit", 12 * (n + v) + 2 * (2 * n + 2 * 4 * 16) + 2 * 8 * v},
                         // Gradients and parameters are read twice, for the norms and for the step; so are LAMB's
                         // states.
                         Row{"lars", 28 * (n + v)}, Row{"lamb", 40 * (n + v)}}) {
    Scenario scenario = laptop(1);
    scenario.train.optimizer = row.optimizer;
    const StepProgram step = compile(scenario);
    RankProgram program = step.program_for(0);
    const auto is_update = [](const Op& op) { return op.id.fields().segment == Segment::update; };
    Op update = *std::find_if(program.ops.begin(), program.ops.end(), is_update);
    // Keep only the operands of the first block's MLP.
    std::erase_if(update.uses, [&](const BufferUse& use) {
      const int parameter = program.buffers[use.buffer].parameter;
      return parameter < 0 ||
             !step.model.parameters[static_cast<std::size_t>(parameter)].name.starts_with("h.0.mlp.c_fc");
    });
    INFO(row.optimizer);
    CHECK(modelled_costs(scenario, step.model).compute_ns(program, update) == std::llround(row.bytes));  // 1 GB/s
  }
}
