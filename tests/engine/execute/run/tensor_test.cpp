// Tests of tensor ranks, with and without sequence parallelism, that are not in the matrix of plans
// (tests/engine/prove/verify/matrix), which combines each of their options with each precision, schedule, stage of
// ZeRO, recomputation, optimizer, and so on.
#include <cmath>
#include <string_view>

#include "engine/execute/run/job.hpp"
#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

struct Plan {
  int tensor;
  bool sequence_parallel = false;
  const char* precision = "fp64";
  LogitsType logits = LogitsType::wide;
  int data = 1, pipeline = 1, micro_batches = 2;
  const char* schedule = "1f1b";
  int zero = 0;
  const char* recompute = "none";
  int recompute_blocks = 1;
  int layers = 2;
  bool tied = true;
  int vocabulary = 61;  // the last of 2 and of 4 ranks has padding
  double dropout = 0.1;
};

Scenario scenario_of(const Plan& plan) {
  Scenario s;
  s.title = "tensor parallel";
  const bool chunked = std::string_view(plan.schedule) == "interleaved" || std::string_view(plan.schedule) == "zb-v";
  // In sums over few elements, 16-bit roundings are relatively too large.
  const int width = std::string_view(plan.precision) == "bf16" ? 32 : 16;
  s.model = {"gpt", chunked ? 4 : plan.layers, width, 4, 8, plan.vocabulary, plan.tied, plan.dropout};
  s.plan.tensor = plan.tensor;
  s.plan.sequence_parallel = plan.sequence_parallel;
  s.plan.data = plan.data;
  s.plan.pipeline = plan.pipeline;
  s.plan.virtual_stages = chunked ? 2 : 1;
  s.plan.schedule = plan.schedule;
  s.plan.micro_batches = plan.micro_batches;
  s.plan.zero = plan.zero;
  s.plan.recompute = plan.recompute;
  s.plan.recompute_blocks = plan.recompute_blocks;
  s.plan.precision = plan.precision;
  s.plan.logits = plan.logits;
  s.plan.bucket_mib = 0.01;  // several buckets
  s.train.global_batch = 2 * plan.data * plan.micro_batches;
  s.train.optimizer = "adamw";
  s.train.clip = 0.3;  // small enough to clip, so the norm matters
  return s;
}

std::string words(const Plan& p) {
  return "tensor " + std::to_string(p.tensor) + (p.sequence_parallel ? " sequence-parallel" : "") + " data " +
         std::to_string(p.data) + " pipeline " + std::to_string(p.pipeline) + " " + p.schedule + " ZeRO-" +
         std::to_string(p.zero) + " recompute " + p.recompute + " " + p.precision + (p.tied ? " tied" : " untied") +
         " vocabulary " + std::to_string(p.vocabulary) + " dropout " + std::to_string(p.dropout) + "\n";
}

void check_parity(const Plan& plan) {
  const VerifyResult result = verify(scenario_of(plan), {});
  INFO(words(plan) << to_text(result));
  CHECK(result.passed);
  CHECK(result.runs.size() == 2);  // SGD's and AdamW's
  // A smaller limit than verify's, because losses are means over many tokens.
  for (const ParityRun& run : result.runs) CHECK(run.errors.losses < 1e-3);
}

}  // namespace

TEST_CASE("in bf16 tensor ranks have the losses of one rank within a thousandth") {
  const int tensor = GENERATE(2, 4);
  const bool tied = GENERATE(true, false);
  const LogitsType logits = GENERATE(LogitsType::wide, LogitsType::narrow);
  check_parity({.tensor = tensor,
                .sequence_parallel = tied == (tensor == 2),
                .precision = "bf16",
                .logits = logits,
                .tied = tied,
                .vocabulary = tied ? 61 : 64,
                .dropout = tied ? 0.2 : 0.0});
}

TEST_CASE("a rank may have no word of the vocabulary, and a tensor group more ranks than a sample has tokens") {
  const bool sequence_parallel = GENERATE(false, true);
  check_parity({.tensor = 4, .sequence_parallel = sequence_parallel, .vocabulary = 5});
  Scenario s = scenario_of({.tensor = 4, .sequence_parallel = sequence_parallel});
  s.model.context = 2;  // a rank's row is one token, from the middle of a sample
  const VerifyResult result = verify(s, {});
  INFO(to_text(result));
  CHECK(result.passed);
}

TEST_CASE("tensor, data and pipeline ranks, ZeRO and recomputation together train the same model as one rank") {
  const auto plan = GENERATE(Plan{.tensor = 2, .data = 2, .pipeline = 2, .schedule = "zb-h1", .zero = 3},
                             Plan{.tensor = 2, .data = 2, .pipeline = 2, .zero = 2, .recompute = "blocks"},
                             Plan{.tensor = 4, .data = 2, .pipeline = 2, .schedule = "interleaved", .zero = 1},
                             Plan{.tensor = 2, .data = 2, .pipeline = 2, .schedule = "zb-v", .zero = 3},
                             Plan{.tensor = 2,
                                  .data = 2,
                                  .pipeline = 2,
                                  .schedule = "zb-v",
                                  .zero = 2,
                                  .recompute = "selective",
                                  .tied = false});
  Plan all = plan;
  all.sequence_parallel = true;
  check_parity(all);
}

TEST_CASE("what is computed again has the same bits, collectives included") {
  const bool sequence_parallel = GENERATE(false, true);
  Scenario plain = scenario_of({.tensor = 2, .sequence_parallel = sequence_parallel, .precision = "bf16"});
  Scenario again = plain;
  again.plan.recompute = "blocks";
  const ParityErrors a = verify(plain, {}).runs.front().errors, b = verify(again, {}).runs.front().errors;
  CHECK(a.gradients == b.gradients);
  CHECK(a.parameters.worst == b.parameters.worst);
  CHECK(a.losses == b.losses);
}

TEST_CASE("planted faults in tensor-parallel training are detected") {
  const bool sequence_parallel = GENERATE(false, true);
  constexpr int zero = 2;
  const auto* plant = GENERATE("gradient_scale", "dropped_micro_batch", "skipped_norm_term", "untied_embedding",
                               "unsynchronised_norms", "unmasked_padding");
  const bool nothing_to_plant = !sequence_parallel && std::string_view(plant) == "unsynchronised_norms";
  Scenario s =
      scenario_of({.tensor = 2, .sequence_parallel = sequence_parallel, .data = 2, .pipeline = 2, .zero = zero});
  s.fault.plant = plant;
  const VerifyResult result = verify(s, {});
  INFO(plant << " ZeRO-" << zero << (sequence_parallel ? " sequence-parallel" : "") << "\n" << to_text(result));
  CHECK(result.passed == nothing_to_plant);
}
