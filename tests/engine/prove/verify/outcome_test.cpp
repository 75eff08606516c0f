// The outcomes of verify: equal, different, or not shown; and the cases that must give each.
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/prove/verify/judgement.hpp"
#include "engine/prove/verify/parity.hpp"
#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Scenario small_gpt(const char* precision) {
  Scenario s;
  s.model = {"gpt", 2, 32, 2, 16, 64, true, 0.0};
  s.plan.precision = precision;
  s.train.global_batch = 4;
  s.train.optimizer = "sgd";
  return s;
}

/// A small residual network with a rate at which its errors grow a hundredfold within five steps.
Scenario chaotic_resnet() {
  Scenario s;
  s.model.kind = "resnet";
  s.model.layers = 4;
  s.model.width = 8;
  s.model.image = 32;
  s.plan.data = 2;
  s.plan.precision = "fp64";
  s.train.global_batch = 8;
  s.train.clip = 0.5;
  s.train.optimizer = "sgd";
  return s;
}

ParityRun run_with(double tolerance, double growth, double error_at_start, double error_later) {
  ParityRun run;
  run.tolerance = tolerance;
  run.errors.steps.resize(parity::steps);
  for (std::size_t s = 0; s < parity::steps; ++s) run.errors.steps[s].gradient = s == 0 ? error_at_start : error_later;
  ParityErrors twin;
  twin.steps.resize(parity::steps);
  for (std::size_t s = 0; s < parity::steps; ++s) twin.steps[s].gradient = s == 0 ? 1e-15 : growth;
  parity::judge(run, twin);
  return run;
}

}  // namespace

TEST_CASE("a NaN is the worst error at any position, and stays so") {
  const Model model = make_model(small_gpt("fp64"));
  const ParameterSpec& spec = model.parameters.front();
  const auto elements = static_cast<std::size_t>(spec.whole.elements());
  const parity::Values before(elements, 1.0), after(elements, 2.0);
  for (const std::size_t at : {std::size_t{0}, elements / 2, elements - 1}) {
    parity::Values held_values = after;
    held_values[at] = not_a_number;
    parity::Judge judge(model);
    const parity::ValueHistory history{0, false, 0, {before, held_values}}, sound{0, false, 0, {before, after}};
    judge.parameter(history, {spec, history, 0}, before, after, "the one with a NaN");
    judge.parameter(sound, {spec, sound, 0}, before, after, "a sound one");
    judge.gradient(0, held_values, after, parity::norm(after), "the one with a NaN");
    judge.gradient(0, after, after, parity::norm(after), "a sound one");
    judge.loss(0, not_a_number, 1);
    judge.loss(0, 1, 1);
    const ParityErrors& e = judge.errors();
    INFO("element " << at);
    CHECK(std::isnan(e.parameters.worst));
    CHECK(e.parameters.where == "the one with a NaN");
    CHECK(std::isnan(e.gradients));
    CHECK(std::isnan(e.losses));
    CHECK(e.parameters.bit_equal == 1);
    ParityRun run;
    run.tolerance = 1e-5;
    run.errors = e;
    CHECK_FALSE(parity::is_within_tolerance(run));
    parity::judge(run, std::nullopt);
    CHECK(run.outcome == Outcome::different);
  }
}

TEST_CASE("errors are compared with the twin's errors, and those of the first step with the tolerance") {
  CHECK(run_with(1e-12, 1e-9, 1e-15, 5e-9).outcome == Outcome::equal);
  CHECK(run_with(1e-12, 1e-9, 1e-15, 5e-8).outcome == Outcome::different);
  CHECK(run_with(1e-12, 1e-9, 1e-9, 5e-9).outcome == Outcome::different);  // training did not cause this error
  CHECK(run_with(1e-12, 1e-9, 1e-15, not_a_number).outcome == Outcome::different);
  const ParityRun hidden = run_with(1e-12, 0.1, 1e-15, 0.2);  // the second step proves nothing
  CHECK(hidden.outcome == Outcome::not_shown);
  CHECK(hidden.judged_steps == 1);
  CHECK_FALSE(hidden.reason.empty());
  // From a resnet in fp32: after one update its twin's error was 2.9, and that of a nearly zero gradient tensor 3e5.
  CHECK(run_with(1e-5, 2.9, 7.5e-8, 3e5).outcome == Outcome::not_shown);
  CHECK(run_with(1e-5, 2.9, 1, 3e5).outcome == Outcome::different);
}

TEST_CASE("tensors that change little and have the same bits are equal") {
  Scenario s = small_gpt("fp32");
  s.train.clip = 0.01;  // the update is so small that most tensors keep few of its digits
  const VerifyResult result = verify(s, {});
  INFO(to_text(result));
  REQUIRE(result.runs.front().errors.parameters.bit_equal == result.runs.front().errors.parameters.tensors);
  CHECK(result.outcome == Outcome::equal);
}

TEST_CASE("tensors that change too little and differ in their last bits prove nothing, and one is named") {
  Scenario s = small_gpt("fp32");
  s.plan.tensor = 2;
  s.train.clip = 1e-4;
  const VerifyResult result = verify(s, {});
  INFO(to_text(result));
  CHECK(result.outcome == Outcome::not_shown);
  CHECK_FALSE(result.passed);
  CHECK_THAT(result.runs.front().reason, ContainsText("changed too little"));
  CHECK_THAT(result.runs.front().reason, ContainsText(" on rank "));
  const nlohmann::json json = to_json(result);
  CHECK(json["passed"] == false);
  CHECK(json["outcome"] == "not shown");
  CHECK(json["reason"] == result.runs.front().reason);
}

TEST_CASE("nothing is proved if nothing changes") {
  Scenario s = small_gpt("fp64");
  s.train.optimizer = "adamw";
  s.train.learning_rate = 0;
  const VerifyResult result = verify(s, {});
  INFO(to_text(result));
  CHECK(result.runs.front().outcome == Outcome::equal);  // with SGD
  CHECK(result.outcome == Outcome::not_shown);
}

TEST_CASE("a chaotic training equals one rank by its twin, and planted faults are found in it") {
  const auto* plant = GENERATE("", "gradient_scale", "dropped_micro_batch", "norm_counted_twice");
  Scenario s = chaotic_resnet();
  s.plan.micro_batches = 2;
  s.fault.plant = plant;
  if (s.fault.plant == "norm_counted_twice") s.plan.zero = 2;
  const VerifyResult result = verify(s, {});
  INFO(plant << "\n" << to_text(result));
  CHECK(result.outcome == (s.fault.plant == Plant::none ? Outcome::equal : Outcome::different));
  if (s.fault.plant == Plant::none) {
    CHECK(result.runs.front().errors.gradients > result.runs.front().tolerance);
    CHECK(result.runs.front().growth.back() > 100 * result.runs.front().growth.front());
  }
}

TEST_CASE("where errors grow by jumps, several twins decide before a run is called different") {
  // A momentum near zero changes its sign, and so does Sophia's clipped step: a loss of this plan differs by 6e-3, and
  // the first twin's by 4e-5 (in one run; this depends on the processor).
  Scenario s = small_gpt("fp32");
  s.model.layers = 6;
  s.model.heads = 2;
  s.model.width = 16;
  s.model.context = 8;
  s.model.vocabulary = 33;
  s.plan.data = 1;
  s.plan.tensor = 2;
  s.plan.micro_batches = 2;
  s.train.global_batch = 2;
  s.train.optimizer = "sophia";
  s.train.learning_rate = 0.1;
  s.train.hyper.hessian_interval = 2;
  s.train.seed = 6025;
  const VerifyResult sound = verify(s, {});
  INFO(to_text(sound));
  CHECK(sound.outcome == Outcome::equal);
  s.fault.plant = "gradient_scale";
  const VerifyResult planted = verify(s, {});
  INFO(to_text(planted));
  CHECK(planted.outcome == Outcome::different);
  CHECK(planted.runs.front().outcome == Outcome::different);
  CHECK(planted.runs.front().twins == ParityRun::most_twins);
}
