// Reproduces the zero-bubble paper's figures by simulating the schedules with its costs.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/fold/folded.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/predict/simulate/bubble_span.hpp"
#include "tests/engine/predict/simulate/pipelines.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

/// Rows of Qi et al. 2024 (arXiv 2401.10241), tables 5 and 6: measured times in milliseconds, and the bubble rates that
/// the authors calculate from them. `layers` counts the transformer's layers; the first and the last stage have one
/// less.
struct Published {
  int p, m, layers;
  double forward_ms, input_gradient_ms, weight_gradient_ms, message_ms;
  double one_f_one_b, interleaved, zb_h1, zb_h2, zb_2p;
  double kept;  ///< 32 sbh of (34 + 5as/h) sbh, table 1: the share of all activations that a weight gradient needs
};
constexpr double kept(double heads, double width) { return 32 / (34 + 5 * heads * 1024 / width); }
constexpr Published published[] = {
    {8, 24, 22, 18.522, 18.086, 9.337, 0.601, 0.2431, 0.1055, 0.1585, 0.1083, 0.0433, kept(24, 2304)},
    {8, 64, 22, 18.546, 18.097, 9.321, 0.762, 0.1240, 0.0443, 0.0674, 0.0444, 0.0026, kept(24, 2304)},
    {8, 32, 30, 29.802, 29.428, 19.530, 0.577, 0.1898, 0.0628, 0.1045, 0.0559, 0.0022, kept(32, 4096)},
    {16, 48, 46, 11.347, 11.248, 8.132, 0.377, 0.2552, 0.1104, 0.1397, 0.0672, 0.0066, kept(40, 5120)},
    {16, 128, 46, 11.325, 11.308, 8.109, 0.378, 0.1251, 0.0445, 0.0576, 0.0266, 0.0028, kept(40, 5120)},
    {32, 128, 62, 10.408, 10.204, 7.703, 0.408, 0.2168, 0.1164, 0.1106, 0.0490, 0.0029, kept(48, 6144)},
};

std::int64_t ns(double ms) { return std::llround(ms * 1e6); }

/// A stage's times divided among its chunks; every message takes message_ms.
Costs costs_of(const Published& row, int chunks_per_stage) {
  const std::int64_t f = ns(row.forward_ms / chunks_per_stage), i = ns(row.input_gradient_ms / chunks_per_stage),
                     w = ns(row.weight_gradient_ms / chunks_per_stage);
  return {[=](const RankProgram&, const Op& op) {
            switch (op.id.kind()) {
              case OpKind::forward: return f;
              case OpKind::input_gradient: return i;
              case OpKind::weight_gradient: return w;
              default: return i + w;
            }
          },
          [latency = ns(row.message_ms)](int, int) {
            return Link{latency, 0};
          },
          {}};
}

double bubble_of(const ChunkSchedule& schedule, const Published& row) {
  const auto programs = pipeline_programs(schedule);
  return bubble_span(simulate(programs, {1, 1, row.p}, costs_of(row, schedule.shape.virtual_stages)));
}

double printed(double rate) { return std::round(rate * 1e4) / 1e4; }

}  // namespace

TEST_CASE("the zero-bubble paper's bubble rates of 1F1B, ZB-H1 and ZB-H2 are reproduced to every printed digit") {
  for (const Published& row : published) {
    CAPTURE(row.p, row.m, row.layers);
    CHECK(printed(bubble_of(one_f_one_b_schedule({row.p, 1, row.m}), row)) == Approx(row.one_f_one_b).epsilon(1e-9));
    CHECK(printed(bubble_of(zb_h1_schedule({row.p, 1, row.m}), row)) == Approx(row.zb_h1).epsilon(1e-9));
    CHECK(printed(bubble_of(zb_h2_schedule({row.p, 1, row.m}), row)) == Approx(row.zb_h2).epsilon(1e-9));
  }
}

TEST_CASE(
    "ZB-2p's heuristic gives the paper's bubble rates to every printed digit, in the memory of 2p micro-batches") {
  for (const Published& row : published) {
    CAPTURE(row.p, row.m, row.layers);
    const PassTimes times{row.forward_ms, row.input_gradient_ms, row.weight_gradient_ms, row.message_ms, row.kept};
    const ChunkSchedule schedule = zb_2p_schedule({row.p, 1, row.m, times});
    CHECK(printed(bubble_of(schedule, row)) == Approx(row.zb_2p).epsilon(1e-9));
    for (const auto& order : schedule.order) {
      double held = 0, most = 0;
      for (const OpId op : order) {
        if (op.kind() == OpKind::forward) most = std::max(most, ++held);
        if (op.kind() == OpKind::input_gradient) held -= 1 - row.kept;
        if (op.kind() == OpKind::weight_gradient) held -= row.kept;
      }
      CHECK(most <= 2 * row.p + 1e-6);
      CHECK(held == Approx(0).margin(1e-6));
    }
  }
}

TEST_CASE("interleaved 1F1B comes within 0.004 of the paper, which does not say how it counts the messages' time") {
  for (const Published& row : published) {
    CAPTURE(row.p, row.m, row.layers);
    const int chunks_per_stage = (row.layers + 2) / row.p;
    CHECK(bubble_of(interleaved_schedule({row.p, chunks_per_stage, row.m}), row) ==
          Approx(row.interleaved).margin(0.004));
  }
}

TEST_CASE("bubbles of folded stages with stated times are those of their programs") {
  for (const Published& row : published)
    for (const std::string name : {"1f1b", "interleaved", "zb-h1", "zb-h2", "zb-2p"}) {
      CAPTURE(row.p, row.m, name);
      Scenario s = parse_scenario("[cluster]\nspec = \"selene\"\noverlap = true\n",
                                  test::source_folder() + "/scenarios/labs/x.toml");
      s.plan.schedule = name;
      s.plan.pipeline = row.p;
      s.plan.virtual_stages = name == "interleaved" ? (row.layers + 2) / row.p : 1;
      s.plan.micro_batches = s.train.global_batch = row.m;
      s.model = {"gpt", s.plan.chunks(), 64, 1, 64, 64, true, 0.0};
      std::ostringstream times;
      times << row.forward_ms << ' ' << row.input_gradient_ms << ' ' << row.weight_gradient_ms << ' ' << row.message_ms
            << ' ' << row.kept;
      s.plan.pass_times = times.str();
      CHECK(fold_bubble_of_times(s) == Approx(bubble_of(compile(s).schedule, row)).margin(2e-6));
    }
}

TEST_CASE(
    "with equal forward, input and weight gradient and free messages, ZB-H2, ZB-2p and ZB-V have no bubble inside") {
  const int p = GENERATE(2, 3, 4, 8);
  for (const int m : {2 * p - 1, 2 * p, 4 * p + 1}) {
    CAPTURE(p, m);
    const auto inside = [&](const ChunkSchedule& schedule) {
      return bubble_span(simulate(pipeline_programs(schedule), {1, 1, p}, unit_costs(1000)));
    };
    CHECK(inside(zb_h2_schedule({p, 1, m})) == 0);
    CHECK(inside(zb_2p_schedule({p, 1, m})) == 0);
    CHECK(inside(zb_v_schedule({p, 2, m})) == 0);
    // ZB-H1's first stage waits (p-1)(F + B - W) = p-1 units for its first gradient.
    CHECK(inside(zb_h1_schedule({p, 1, m})) == Approx((p - 1.0) / (3.0 * m + p - 1)));
  }
}
