// Tests of verify that are not in the matrix of plans (matrix/matrix_test.cpp): equal bits, other placements of chunks,
// and faults that are detected.
#include "engine/prove/verify/verify.hpp"

#include <string_view>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

Scenario scenario_of(std::string schedule, int data, int pipeline, int micro_batches, std::string precision,
                     bool tied) {
  Scenario s;
  s.title = "parity";
  s.model = {"gpt", 4, 32, 2, 16, 64, tied, 0.0};
  s.plan.data = data;
  s.plan.pipeline = pipeline;
  s.plan.schedule = std::move(schedule);
  s.plan.micro_batches = micro_batches;
  s.plan.precision = std::move(precision);
  s.plan.bucket_mib = 0.05;  // several buckets
  s.train.global_batch = 2 * data * micro_batches;
  s.train.optimizer = "adamw";
  s.train.clip = 0.5;  // small enough to clip, so the norm matters
  return s;
}

}  // namespace

TEST_CASE("a plan of data and pipeline ranks trains the same model as one rank") {
  const auto* precision = GENERATE("fp64", "fp32");
  const VerifyResult result = verify(scenario_of("1f1b", 2, 2, 4, precision, true), {});
  INFO(precision << "\n" << to_text(result));
  CHECK(result.passed);
}

TEST_CASE("an order by hand with reversed chunks, and stages of unequal layers, train the same model as one rank") {
  Scenario s = scenario_of("by-hand", 1, 2, 3, "fp64", true);
  s.plan.order =
      "stage 1: F:c0:m0 F:c0:m1 F:c0:m2 I:c0:m0 W:c0:m0 I:c0:m1 I:c0:m2 W:c0:m1 W:c0:m2\n"
      "stage 0: F:c1:m0 F:c1:m1 I:c1:m0 F:c1:m2 I:c1:m1 I:c1:m2 W:c1:m0 W:c1:m1 W:c1:m2";
  s.plan.stages = "3 1";
  const VerifyResult result = verify(s, {});
  INFO(to_text(result));
  CHECK(result.passed);
}

TEST_CASE("pipelines whose embedding and head are chunks without a layer train the same model as one rank") {
  struct Plan {
    const char *schedule, *stages;
    int tensor, pipeline, chunks;
    const char* recompute;
  };
  const auto plan = GENERATE(Plan{"interleaved", "0 1 1 1 1 1 1 0", 1, 4, 2, "none"},
                             Plan{"interleaved", "0 3 3 0", 1, 2, 2, "blocks"}, Plan{"1f1b", "0 6 0", 1, 3, 1, "none"},
                             Plan{"gpipe", "0 6 0", 2, 3, 1, "none"}, Plan{"zb-h1", "3 3 0", 1, 3, 1, "none"},
                             Plan{"zb-v", "2 2 2 0", 1, 2, 2, "none"});
  const bool tied = GENERATE(true, false);
  Scenario s = scenario_of(plan.schedule, 1, plan.pipeline, 8, "fp64", tied);
  s.model.layers = 6;
  s.plan.tensor = plan.tensor;
  s.plan.virtual_stages = plan.chunks;
  s.plan.stages = plan.stages;
  s.plan.recompute = plan.recompute;
  const VerifyResult result = verify(s, {});
  INFO(plan.schedule << " " << plan.stages << (tied ? " tied" : "") << "\n" << to_text(result));
  CHECK(result.passed);
}

TEST_CASE("a planted fault is caught in pipelines with data parallelism and dropout") {
  const auto* schedule = GENERATE("interleaved", "zb-h1", "zb-v");
  const auto* plant = GENERATE("dropped_micro_batch", "skipped_norm_term");
  Scenario s = scenario_of(schedule, 2, 2, 4, "fp64", true);
  if (std::string_view(schedule) != "zb-h1") s.plan.virtual_stages = 2;
  s.model.dropout = 0.2;
  s.fault.plant = plant;
  const VerifyResult result = verify(s, {});
  INFO(schedule << " " << plant << "\n" << to_text(result));
  CHECK_FALSE(result.passed);
}

TEST_CASE("where sums are taken in the same order, the bits are the same") {
  // An untied pipeline without clipping (whose norm is summed rank by rank) adds the same values in the same order as
  // one rank.
  const auto* schedule = GENERATE("naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v");
  const std::string_view of = schedule;
  const char* const precision = of == "1f1b" ? "bf16" : of == "zb-h1" ? "fp64" : "fp32";
  Scenario s = scenario_of(schedule, 1, 4, 8, precision, false);
  if (of == "interleaved" || of == "zb-v") {
    s.plan.virtual_stages = 2;
    s.model.layers = 8;
  }
  s.train.clip = 0;
  for (const ParityRun& run : verify(s, {}).runs) {
    INFO(schedule << " " << precision << " " << run.optimizer);
    CHECK(run.errors.losses == 0);
    CHECK(run.errors.gradients == 0);
    CHECK(run.errors.parameters.bit_equal == run.errors.parameters.tensors);
  }
}

TEST_CASE("what is computed again has the same bits, dropout included") {
  const auto* schedule = GENERATE("1f1b", "zb-v");
  const auto* recompute = GENERATE("blocks", "sqrt", "selective");
  Scenario s = scenario_of(schedule, 1, 2, 4, "fp32", false);
  if (const std::string_view name = schedule; name == "interleaved" || name == "zb-v") s.plan.virtual_stages = 2;
  s.model.layers = 8;
  s.model.dropout = 0.1;
  s.plan.recompute = recompute;
  s.train.clip = 0;
  for (const ParityRun& run : verify(s, {}).runs) {
    INFO(schedule << " " << recompute << " " << run.optimizer);
    CHECK(run.errors.losses == 0);
    CHECK(run.errors.gradients == 0);
    CHECK(run.errors.parameters.bit_equal == run.errors.parameters.tensors);
  }
}

TEST_CASE("planted faults are caught") {
  const auto* plant = GENERATE("gradient_scale", "dropped_micro_batch", "skipped_norm_term", "untied_embedding");
  Scenario s = scenario_of("1f1b", 2, 2, 2, "fp32", true);  // the type with the wider tolerance
  s.fault.plant = plant;
  const VerifyResult result = verify(s, {});
  INFO(plant << "\n" << to_text(result));
  CHECK_FALSE(result.passed);
}
