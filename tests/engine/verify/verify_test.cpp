#include "engine/verify/verify.hpp"

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
  s.train.clip = 0.5;  // clips: the norm counts
  return s;
}

}  // namespace

TEST_CASE("every plan trains the same model as one rank") {
  struct Plan {
    const char* schedule;
    int data, pipeline, micro_batches;
  };
  const auto plan = GENERATE(Plan{"1f1b", 2, 1, 2}, Plan{"naive", 1, 4, 8}, Plan{"gpipe", 1, 4, 8},
                             Plan{"1f1b", 1, 4, 8}, Plan{"1f1b", 2, 2, 4});
  const bool tied = GENERATE(true, false);
  const auto* precision = GENERATE("fp64", "fp32");
  const VerifyResult result =
      verify(scenario_of(plan.schedule, plan.data, plan.pipeline, plan.micro_batches, precision, tied), {});
  INFO(plan.schedule << " data " << plan.data << " pipeline " << plan.pipeline << " " << precision
                     << (tied ? " tied" : "") << "\n"
                     << to_text(result));
  CHECK(result.passed);
}

TEST_CASE("interleaved and zero-bubble pipelines train the same model as one rank") {
  struct Plan {
    int pipeline;
    bool tied;
    const char* precision;
  };
  const auto* schedule = GENERATE("interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v");
  const auto [pipeline, tied, precision] =
      GENERATE(Plan{4, true, "fp64"}, Plan{4, false, "fp64"}, Plan{4, true, "fp32"}, Plan{4, false, "fp32"},
               Plan{2, true, "fp64"}, Plan{2, false, "fp32"});
  Scenario s = scenario_of(schedule, 1, pipeline, 8, precision, tied);
  if (const std::string_view name = schedule; name == "interleaved" || name == "zb-v") s.plan.virtual_stages = 2;
  s.model.layers = 8;
  const VerifyResult result = verify(s, {});
  INFO(schedule << " pipeline " << pipeline << " " << precision << (tied ? " tied" : "") << "\n" << to_text(result));
  CHECK(result.passed);
}

TEST_CASE("so do an order by hand, its chunks placed the other way round, and stages of unequal layers") {
  Scenario s = scenario_of("by-hand", 1, 2, 3, "fp64", true);
  s.plan.order =
      "stage 1: F:c0:m0 F:c0:m1 F:c0:m2 I:c0:m0 W:c0:m0 I:c0:m1 I:c0:m2 W:c0:m1 W:c0:m2\n"
      "stage 0: F:c1:m0 F:c1:m1 I:c1:m0 F:c1:m2 I:c1:m1 I:c1:m2 W:c1:m0 W:c1:m1 W:c1:m2";
  s.plan.stages = "3 1";
  const VerifyResult result = verify(s, {});
  INFO(to_text(result));
  CHECK(result.passed);
}

TEST_CASE("so do pipelines whose embedding and head are chunks without a layer") {
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

TEST_CASE("so they do with data parallelism and dropout, and a planted fault is caught") {
  const auto* schedule = GENERATE("interleaved", "zb-h1", "zb-v");
  const auto* plant = GENERATE("", "dropped_micro_batch", "skipped_norm_term");
  Scenario s = scenario_of(schedule, 2, 2, 4, "fp64", true);
  if (std::string_view(schedule) != "zb-h1") s.plan.virtual_stages = 2;
  s.model.dropout = 0.2;
  s.fault.plant = plant;
  const VerifyResult result = verify(s, {});
  INFO(schedule << " " << plant << "\n" << to_text(result));
  CHECK(result.passed == std::string_view(plant).empty());
}

TEST_CASE("where sums are taken in the same order, the bits are the same") {
  // An untied pipeline without clipping (whose norm is summed rank by rank) adds what one rank adds, in the same order.
  const auto* schedule = GENERATE("naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v");
  const auto* precision = GENERATE("fp64", "fp32", "bf16");
  Scenario s = scenario_of(schedule, 1, 4, 8, precision, false);
  if (const std::string_view name = schedule; name == "interleaved" || name == "zb-v") {
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
  const auto* schedule = GENERATE("gpipe", "1f1b", "interleaved", "zb-h1", "zb-v");
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

TEST_CASE("dropout does not depend on the plan") {
  Scenario s = scenario_of("1f1b", 2, 2, 2, "fp64", true);
  s.model.dropout = 0.2;
  const VerifyResult result = verify(s, {});
  INFO(to_text(result));
  CHECK(result.passed);
}

TEST_CASE("planted faults are caught") {
  const auto* plant = GENERATE("gradient_scale", "dropped_micro_batch", "skipped_norm_term", "untied_embedding");
  const auto* precision = GENERATE("fp64", "fp32");
  Scenario s = scenario_of("1f1b", 2, 2, 2, precision, true);
  s.fault.plant = plant;
  const VerifyResult result = verify(s, {});
  INFO(plant << "\n" << to_text(result));
  CHECK_FALSE(result.passed);
}
