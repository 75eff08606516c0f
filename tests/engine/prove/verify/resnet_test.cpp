// Residual networks: every plan trains the same model as one rank. Batch norms use one micro-batch at a time, so the
// reference, which has the same micro-batches, has the same statistics.
#include <string_view>

#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

Scenario resnet_scenario(const std::string& schedule, int data, int pipeline, int micro_batches,
                         const std::string& precision) {
  Scenario s;
  s.title = "parity of a resnet";
  s.model = {.kind = "resnet", .layers = 4, .width = 4, .image = 40, .classes = 5};
  s.plan.data = data;
  s.plan.pipeline = pipeline;
  s.plan.schedule = schedule;
  s.plan.virtual_stages = schedule == "interleaved" || schedule == "zb-v" ? 2 : 1;
  s.plan.micro_batches = micro_batches;
  s.plan.precision = precision;
  s.plan.bucket_mib = 0.01;  // several buckets
  s.train.global_batch = 3 * data * micro_batches;
  s.train.optimizer = "adamw";
  s.train.clip = 0.5;
  return s;
}

void check(const Scenario& s) {
  const VerifyResult result = verify(s, {});
  INFO(s.plan.schedule << " data " << s.plan.data << " pipeline " << s.plan.pipeline << " ZeRO-" << s.plan.zero << " "
                       << s.plan.recompute << " " << s.plan.data_parallel << " " << s.plan.precision << "\n"
                       << to_text(result));
  CHECK(result.passed);
}

}  // namespace

TEST_CASE("a resnet over pipeline stages is the same training as on one rank") {
  const auto* schedule = GENERATE("naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-v");
  check(resnet_scenario(schedule, 1, 2, 4, "fp64"));
}

TEST_CASE(
    "a resnet over data-parallel ranks, with shards, a main device or servers, and recomputation, is the same "
    "training") {
  struct Plan {
    int zero, pipeline;
    const char *data_parallel, *recompute;
  };
  const auto plan = GENERATE(Plan{0, 1, "all-reduce", "none"}, Plan{1, 2, "all-reduce", "blocks"},
                             Plan{2, 1, "all-reduce", "sqrt"}, Plan{3, 2, "all-reduce", "none"},
                             Plan{0, 1, "main-device", "none"}, Plan{0, 1, "parameter-server", "none"});
  Scenario s = resnet_scenario("1f1b", 2, plan.pipeline, 2, "fp64");
  s.plan.zero = plan.zero;
  s.plan.data_parallel = plan.data_parallel;
  s.plan.recompute = plan.recompute;
  check(s);
}

TEST_CASE("a resnet's pipeline adds in the same order as one rank: the same bits") {
  const auto* precision = GENERATE("fp32", "bf16");
  const auto* recompute = GENERATE("none", "blocks");
  Scenario s = resnet_scenario("zb-h1", 1, 2, 4, precision);
  s.plan.recompute = recompute;
  s.train.clip = 0;  // the norm is summed rank by rank
  for (const ParityRun& run : verify(s, {}).runs) {
    INFO(precision << " " << recompute << " " << run.optimizer);
    CHECK(run.errors.losses == 0);
    CHECK(run.errors.gradients == 0);
    CHECK(run.errors.parameters.bit_equal == run.errors.parameters.tensors);
  }
}

TEST_CASE("faults planted in a resnet's plan are caught") {
  const auto* plant = GENERATE("gradient_scale", "dropped_micro_batch", "skipped_norm_term");
  Scenario s = resnet_scenario("1f1b", 2, 2, 2, "fp64");
  s.fault.plant = plant;
  CHECK_FALSE(verify(s, {}).passed);
}
