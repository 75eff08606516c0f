#include "engine/predict/cost/measured.hpp"

#include <fstream>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/measured.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/kernels.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;

namespace {

/// The cost of an op with 2 µs, 1 ns per 1,000 FLOPs and 1 ns per 100 bytes.
MeasuredCost made(const char* op, double flops, double bytes) {
  return {op, "fp32", flops, bytes, 2e-6 + flops * 1e-12 + bytes * 1e-11};
}

}  // namespace

TEST_CASE("an op of a measured size takes the measured time; other sizes follow from fitted rates") {
  std::vector<MeasuredCost> costs;
  for (const double flops : {1e6, 3e6, 1e7}) costs.push_back(made("forward qkv", flops, flops / 10));
  costs.push_back(made("forward qkv", 2e6, 4e6));
  costs.push_back({"forward qkv", "bf16", 1e6, 1e5, 1});
  const MeasuredOps ops(costs, "fp32");
  const auto seconds = [&](double flops, double bytes) {
    return ops.seconds(OpKind::forward, Segment::qkv, {flops, bytes});
  };
  CHECK(seconds(3e6, 3e5).value() == costs[1].seconds);
  CHECK(seconds(5e6, 7e5).value() == Approx(2e-6 + 5e6 * 1e-12 + 7e5 * 1e-11).epsilon(1e-6));
  CHECK_FALSE(seconds(1e9, 1e8));  // a hundred times more than the largest measurement
  CHECK_FALSE(ops.seconds(OpKind::backward, Segment::qkv, {3e6, 3e5}));
  CHECK(MeasuredOps(costs, "fp64").empty());
}

TEST_CASE("one measured size predicts others, and no time is ever negative") {
  const MeasuredOps one({{"optimizer update", "fp32", 0, 1e6, 1e-3}}, "fp32");
  const auto seconds = [&](double bytes) { return one.seconds(OpKind::optimizer, Segment::update, {0, bytes}); };
  CHECK(seconds(1e6).value() == 1e-3);
  CHECK(seconds(2e6).value() > 0);
  // Less time for more work is noise, and must not give a negative rate.
  const MeasuredOps odd({{"forward up", "fp32", 1e6, 1e5, 2e-3}, {"forward up", "fp32", 2e6, 1e5, 1e-3}}, "fp32");
  for (const double flops : {5e5, 1.5e6, 4e6})
    CHECK(odd.seconds(OpKind::forward, Segment::up, {flops, 1e5}).value() > 0);
}

TEST_CASE("attention's cost also depends on its heads' strides if that was measured") {
  // Heads of 32 in models of 64 to 320: a head's work is the same, but the distance between its rows differs.
  const auto work = [](double heads, double context) {
    const double bytes = 4 * 4 * heads * 32 * context;
    return OpWork{4 * heads * 32 * context * context, bytes, heads * bytes * 3 / 4};
  };
  const auto truth = [](const OpWork& w) { return 1e-6 + w.flops * 2e-12 + w.bytes * 1e-11 + w.walked_bytes * 3e-12; };
  std::vector<MeasuredCost> costs, before;
  for (const double heads : {2.0, 4.0, 10.0})
    for (const double context : {64.0, 128.0}) {
      const OpWork w = work(heads, context);
      costs.push_back({"forward attention", "fp32", w.flops, w.bytes, truth(w), w.walked_bytes});
      before.push_back({"forward attention", "fp32", w.flops, w.bytes, truth(w)});
    }
  const OpWork other = work(6, 96);
  const auto seconds = [&](const std::vector<MeasuredCost>& from, const OpWork& w) {
    return MeasuredOps(from, "fp32").seconds(OpKind::forward, Segment::attention, w).value();
  };
  CHECK(seconds(costs, other) == Approx(truth(other)).epsilon(1e-6));
  // A table without strides: measured sizes are found by FLOPs and bytes, and others follow from three terms.
  CHECK(seconds(before, work(4, 64)) == before[2].seconds);
  CHECK(seconds(before, other) == seconds(before, {other.flops, other.bytes}));
  CHECK(seconds(before, other) != Approx(truth(other)).epsilon(0.01));
}

TEST_CASE("measured ops take precedence over the model, in programs and folded") {
  Scenario s = parse_scenario("[cluster]\nspec = \"selene\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = {"gpt", 2, 1024, 16, 512, 512, true, 0.0};
  s.plan.precision = "fp16";
  const StepProgram step = compile(s);
  const auto core = std::find_if(step.model.segments.begin(), step.model.segments.end(),
                                 [](const SegmentSpec& segment) { return segment.kind == Segment::attention; });
  s.cluster.costs = {{"forward attention", "fp16", core->forward_flops, core->forward_bytes, 0.125}};
  const MeasuredOps measured(s.cluster.costs, "fp16");
  CHECK(segment_seconds(step.model, *core, s.cluster, &measured).forward == 0.125);
  CHECK(segment_seconds(step.model, *core, s.cluster).forward < 0.01);
  const Costs costs = modelled_costs(s, step.model);
  const RankProgram program = step.program_for(0);
  int found = 0;
  for (const Op& op : program.ops)
    if (op.id.kind() == OpKind::forward && op.id.fields().segment == Segment::attention) {
      ++found;
      CHECK(costs.compute_ns(program, op) == 125'000'000);
    }
  CHECK(found == 2);
}

TEST_CASE("a file of measured ops reads back what was written, and is named by a cluster's key") {
  const testing::TemporaryDirectory folder;
  std::filesystem::create_directories(std::filesystem::path(folder / "measured"));
  MeasuredTable table{"a machine", "a test", {made("forward qkv", 1e6, 1e5), made("backward head", 2e6, 3e5)}};
  table.rows.push_back({"forward attention", "fp32", 1e6, 1e5, 1e-3, 4e5});
  std::ofstream(folder / "measured/mine.toml") << to_toml(table);
  const MeasuredTable read = read_measured(folder / "measured/mine.toml");
  CHECK(read.title == table.title);
  CHECK(read.rows == table.rows);
  const std::string text = "[cluster]\nspec = \"laptop\"\nmeasured = \"mine\"\n";
  CHECK(parse_scenario(text, folder / "x.toml").cluster.costs == table.rows);
  CHECK_THROWS_WITH(parse_scenario("[cluster]\nmeasured = \"nobody\"\n", folder / "x.toml"),
                    ContainsText("x.toml:2:") && ContainsText("unknown measured ops 'nobody'"));
  std::ofstream(folder / "measured/bad.toml") << "title = \"t\"\nsource = \"s\"\nrows = [\n{ op = \"x\" }\n]\n";
  CHECK_THROWS_WITH(read_measured(folder / "measured/bad.toml"), ContainsText("bad.toml:4:"));
}
