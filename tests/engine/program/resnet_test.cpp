// Programs of residual networks, whose blocks are not alike.
#include <map>
#include <set>

#include "engine/program/communication.hpp"
#include "engine/program/dry_run.hpp"
#include "engine/program/passes.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

Scenario resnet_scenario(const std::string& schedule, int data, int pipeline, int micro_batches) {
  Scenario s;
  s.title = "small resnet";
  s.model = {.kind = "resnet", .layers = 8, .width = 8, .image = 64, .classes = 10};
  s.plan.data = data;
  s.plan.pipeline = pipeline;
  s.plan.schedule = schedule;
  s.plan.virtual_stages = schedule == "interleaved" || schedule == "zb-v" ? 2 : 1;
  s.plan.micro_batches = micro_batches;
  s.plan.bucket_mib = 0.01;
  s.train.global_batch = 2 * data * micro_batches;
  s.train.clip = 1.0;
  return s;
}

}  // namespace

TEST_CASE("a resnet's programs complete, keep the rules of communication, and parse back") {
  const auto* schedule = GENERATE("naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v");
  const int zero = GENERATE(0, 1, 2, 3);
  for (const auto* recompute : {"none", "blocks", "sqrt"}) {
    Scenario s = resnet_scenario(schedule, 2, 2, 4);
    s.plan.zero = zero;
    s.plan.recompute = recompute;
    const StepProgram step = compile(s);
    const std::vector<RankProgram> programs = step.all_programs();
    INFO(schedule << " ZeRO-" << zero << " " << recompute);
    const auto misuse = find_misuse(programs, step.grid);
    if (misuse) FAIL(*misuse);
    CHECK_FALSE(find_deadlock(programs, step.grid));
    CHECK(to_text(parse_program(to_text(programs[1]))) == to_text(programs[1]));
  }
}

TEST_CASE(
    "the gradient of a block's input is begun by its sum and completed by its first convolution, or by that alone") {
  for (const auto* schedule : {"1f1b", "zb-h1"}) {
    const StepProgram step = compile(resnet_scenario(schedule, 1, 1, 2));
    const RankProgram program = step.program_for(0);
    int begun = 0, whole = 0;
    for (const Op& op : program.ops) {
      const OpFields f = op.id.fields();
      const bool backward = f.kind == OpKind::backward || f.kind == OpKind::input_gradient;
      if (!backward || f.segment != Segment::conv1) continue;
      const SegmentSpec& segment = step.model.segment(f.block, Segment::conv1);
      const std::size_t at =
          f.kind == OpKind::backward ? backward_gradient_output_at(segment, 0) : input_gradient_output_at(segment, 0);
      const BufferUse& use = op.uses[at];
      // Who writes the gradient of the block's input, in program order, and with what access.
      std::vector<std::pair<Segment, Access>> writers;
      for (const Op& other : program.ops)
        for (const BufferUse& u : other.uses)
          if (u.buffer == use.buffer && u.access != Access::read)
            writers.emplace_back(other.id.fields().segment, u.access);
      INFO(schedule << " " << to_token(op.id));
      if (segment.adds_to_gradient(TensorName::residual)) {
        CHECK(writers == std::vector{std::pair{Segment::shortcut_sum, Access::write},
                                     std::pair{Segment::conv1, Access::accumulate}});
        ++begun;
      } else {
        CHECK(writers == std::vector{std::pair{Segment::conv1, Access::write}});
        ++whole;
      }
    }
    CHECK(begun == 2 * 4);  // the second block of each of four stages, two micro-batches
    CHECK(whole == 2 * 4);
  }
}

TEST_CASE("stages of a resnet send what their last block makes, and chunks of one size are not taken for granted") {
  const Scenario s = resnet_scenario("1f1b", 1, 4, 4);
  const StepProgram step = compile(s);
  // Blocks 0-1, 2-3, 4-5, 6-7: one stage of the network each. [samples, side, side, channels], fp32.
  const std::int64_t expected[] = {2 * 16 * 16 * 32 * 4, 2 * 8 * 8 * 64 * 4, 2 * 4 * 4 * 128 * 4};
  for (int rank = 0; rank < 3; ++rank) {
    const RankProgram program = step.program_for(rank);
    int sends = 0;
    for (const Op& op : program.ops)
      if (op.id.kind() == OpKind::send && op.id.fields().purpose == Purpose::pipeline_forward) {
        CHECK(program.payload_bytes(op) == expected[rank]);
        ++sends;
      }
    CHECK(sends == 4);
  }
}

TEST_CASE("with its blocks computed again a resnet keeps what they read, and less than without") {
  const auto activations = [](const char* recompute) {
    Scenario s = resnet_scenario("gpipe", 1, 1, 4);
    s.plan.recompute = recompute;
    return memory_profile(compile(s).program_for(0)).peak_by_class[static_cast<std::size_t>(MemoryClass::activations)];
  };
  const std::int64_t none = activations("none"), blocks = activations("blocks");
  CHECK(blocks < none / 2);
  CHECK(blocks > 0);
}

TEST_CASE("a resnet loads images where it begins and classes where it ends") {
  const StepProgram step = compile(resnet_scenario("1f1b", 1, 2, 2));
  for (const int rank : {0, 1}) {
    const RankProgram program = step.program_for(rank);
    int loads = 0;
    for (const Op& op : program.ops) {
      if (op.id.kind() != OpKind::load_batch) continue;
      REQUIRE(op.uses.size() == 1);
      const Buffer& loaded = program.buffers[op.uses[0].buffer];
      CHECK(loaded.type == DType::i32);
      CHECK(loaded.shape.elements() == (rank == 0 ? 2 * 64 * 64 * 3 : 2));
      ++loads;
    }
    CHECK(loads == 2);
  }
}
