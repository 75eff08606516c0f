// Each property of software and links in a cluster file changes the prediction by the expected amount: computed from
// shapes, for the folded step and for programs.
#include <algorithm>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/cost/software.hpp"
#include "engine/predict/fold/folded.hpp"
#include "engine/predict/fold/plan_folder.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

constexpr double layers = 4, width = 2048, heads = 16, context = 1024, micro_batches = 2, element = 2;
constexpr double rows = context;  // one sample a micro-batch

/// Four blocks with the software of 64 A100s, without gaps between kernels, in bf16.
Scenario small_cluster(int data = 1, int tensor = 1) {
  Scenario s = parse_scenario("[cluster]\nspec = \"selene\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = {"gpt", 4, 2048, 16, 1024, 51200, false, 0.0};
  s.plan.data = data;
  s.plan.tensor = tensor;
  s.plan.micro_batches = 2;
  s.plan.schedule = "1f1b";
  s.plan.precision = "bf16";
  s.train.global_batch = 2 * data;
  s.cluster.op_overhead_s = 0;
  s.cluster.software.fused = true;
  return s;
}

double seconds_rank_by_rank(const Scenario& scenario) {
  const StepProgram step = compile(scenario);
  auto programs = step.all_programs();
  for (RankProgram& program : programs) program = as_run_on(scenario.cluster, std::move(program));
  return static_cast<double>(simulate(programs, step.grid, modelled_costs(scenario, step.model)).end_ns) * 1e-9;
}

template <class Change>
Scenario changed(Scenario s, Change change) {
  change(s.cluster);
  return s;
}

/// The seconds that a change adds to the folded step; it must add the same to the programs.
double more_seconds(const Scenario& before, const Scenario& after) {
  const double folded = fold_step(after).seconds - fold_step(before).seconds;
  CHECK(seconds_rank_by_rank(after) - seconds_rank_by_rank(before) == Approx(folded).epsilon(0.001));
  return folded;
}

}  // namespace

TEST_CASE("a layer norm behind the embedding is one kernel forward and one backward, and its input is kept") {
  const Scenario s = small_cluster();
  const Scenario with = changed(s, [](ClusterSpec& c) { c.software.embedding_norm = true; });
  // Bytes divided by the bandwidths that such kernels reach (kernels.cpp): two operands forward, three backward.
  const double operand = rows * width * element;
  const double expected = micro_batches * operand * (2 / 0.576 + 3 / 0.368) / s.cluster.memory_bandwidth;
  CHECK(more_seconds(s, with) == Approx(expected).epsilon(1e-3));
  CHECK(static_cast<double>(fold_step(with).memory[0].peak() - fold_step(s).memory[0].peak()) == operand);
}

TEST_CASE("a bias of stored scores is copied there and read by the product that adds to it") {
  const Scenario s = changed(small_cluster(), [](ClusterSpec& c) { c.software.attention = "stored"; });
  const Scenario with = changed(s, [](ClusterSpec& c) { c.software.score_bias = true; });
  const double bytes = micro_batches * layers * heads * context * context * 2 * element;
  CHECK(more_seconds(s, with) ==
        Approx(bytes / (s.cluster.memory_bandwidth * s.cluster.memory_efficiency)).epsilon(1e-3));
  const auto flash = [](ClusterSpec& c) { c.software.attention = "flash"; };  // stores no scores
  CHECK(fold_step(changed(with, flash)).seconds == fold_step(changed(s, flash)).seconds);
}

TEST_CASE("with ZeRO-1 whole gradients are all-reduced where the software does, twice the bytes of a reduce-scatter") {
  Scenario s = small_cluster(4);
  s.plan.zero = 1;
  s.cluster.software.overlap = false;
  s.cluster.intra_latency_s = 0;
  const FoldedStep shares = fold_step(s);
  const FoldedStep whole = fold_step(changed(s, [](ClusterSpec& c) { c.software.reduce_whole = true; }));
  CHECK(whole.seconds - shares.seconds == Approx(whole.data + whole.zero - shares.data - shares.zero));
  // A reduce-scatter of gradients and a gather of parameters, both in 16 bits, take equally long; an all-reduce takes
  // twice that.
  REQUIRE(s.cluster.software.reduced_bytes == 2);
  INFO(shares.data + shares.zero << " s, then " << whole.data + whole.zero);
  CHECK(whole.data + whole.zero == Approx(1.5 * (shares.data + shares.zero)).epsilon(0.02));
}

TEST_CASE("tensor ranks' exchanges of input gradients take no time beside weight gradients that are longer") {
  Scenario s = small_cluster(1, 2);
  s.cluster.intra_latency_s = 0;
  s.cluster.intra_bandwidth = 1e13;  // an exchange is much shorter than a product
  const Scenario beside = changed(s, [](ClusterSpec& c) { c.software.overlap_exchanges = true; });
  const FoldedStep apart = fold_step(s), hidden = fold_step(beside);
  CHECK(apart.seconds - hidden.seconds == Approx(apart.tensor - hidden.tensor));
  CHECK(seconds_rank_by_rank(s) - seconds_rank_by_rank(beside) == Approx(apart.seconds - hidden.seconds).epsilon(0.02));
  // Each block has two sums forward and two backward; the embedding and the head also have one of each.
  INFO("tensor " << apart.tensor << " s, then " << hidden.tensor);
  CHECK(hidden.tensor / apart.tensor > 0.45);
  CHECK(hidden.tensor / apart.tensor < 0.6);
}

TEST_CASE("an allocator's loss is a share of the tensors, not of the context") {
  Scenario s = small_cluster();
  s.cluster.context_bytes = 1e9;
  s.cluster.allocator_slack = 0;
  const std::vector<StageMemory> memory = fold_step(s).memory;
  const double plain = bytes_of_fullest(memory, s.cluster);
  s.cluster.allocator_slack = 0.25;
  CHECK(bytes_of_fullest(memory, s.cluster) == Approx(1e9 + 1.25 * (plain - 1e9)));
  CHECK(fold_step(s).memory[0].peak() == memory[0].peak());
}

TEST_CASE("a device's peak in bf16 is that of products in bf16, and of no others") {
  Scenario s = small_cluster();
  const auto slower = [&](double times) {
    return fold_step(changed(s, [&](ClusterSpec& c) { c.peak_flops_bf16 /= times; })).seconds;
  };
  // A product takes the longer of the times for its FLOPs and for its bytes: at half the peak, FLOPs limit more
  // products. Once they limit all, the step grows with 1/peak.
  const double one = slower(1), two = slower(2), four = slower(4);
  CHECK(two - one > 0.3 * one);
  CHECK(four - two >= 2 * (two - one) * (1 - 1e-9));
  const double slow = slower(64), slower_yet = slower(128);
  CHECK(slower(256) - slower_yet == Approx(2 * (slower_yet - slow)).epsilon(0.001));
  s.plan.precision = "fp16";
  CHECK(slower(2) == slower(1));
}

TEST_CASE("links reach the share of their bandwidth that the cluster says, within a node and between nodes") {
  for (const bool between : {false, true}) {
    Scenario s = small_cluster(between ? 16 : 8);
    s.cluster.software.overlap = false;
    s.cluster.intra_latency_s = s.cluster.inter_latency_s = 0;
    const auto half = [&](ClusterSpec& c) { (between ? c.inter_efficiency : c.intra_efficiency) /= 2; };
    const double one = fold_step(s).data, two = fold_step(changed(s, half)).data;
    INFO((between ? "between nodes" : "within a node") << ": " << one << " s, then " << two);
    CHECK(two == Approx(2 * one).epsilon(0.02));
  }
}
