// Programs of residual networks, whose blocks differ.
#include <map>
#include <set>

#include "engine/plan/program/communication.hpp"
#include "engine/plan/program/dry_run.hpp"
#include "engine/plan/program/passes.hpp"
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
      // The ops that write the gradient of the block's input, in program order, and their access.
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

TEST_CASE("stages of a resnet send the output of their last block, and chunks may have different sizes") {
  const Scenario s = resnet_scenario("1f1b", 1, 4, 4);
  const StepProgram step = compile(s);
  // Blocks 0-1, 2-3, 4-5, 6-7: each is one stage of the network. [samples, side, side, channels], fp32.
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

// Computed by hand from shapes; no size below comes from the code under test. Four blocks, one per stage, on two images
// of 32 x 32: 16 x 16 after the first convolution, 8 x 8 after its pool, 4 x 4, 2 x 2 and 1 x 1 after blocks.
namespace golden {

constexpr std::int64_t images = 2, colours = 3, classes = 10, width = 8;
struct Block {
  std::int64_t in, side, out_side, middle;
  constexpr std::int64_t out() const { return 4 * middle; }
  /// Three convolutions and the shortcut's, each with a norm's weight and bias.
  constexpr std::int64_t parameters() const {
    return in * middle + 2 * middle + 9 * middle * middle + 2 * middle + middle * out() + 2 * out() + in * out() +
           2 * out();
  }
  constexpr std::int64_t output() const { return images * out_side * out_side * out(); }
  /// What it keeps in addition to its output: each convolution's result, for two of them also the norm's; and the
  /// norms' means and deviations.
  constexpr std::int64_t inside() const {
    return 2 * images * side * side * middle + 2 * middle + 2 * images * out_side * out_side * middle + 2 * middle +
           2 * output() + 4 * out();
  }
};
constexpr Block blocks[] = {{8, 8, 8, 8}, {32, 8, 4, 16}, {64, 4, 2, 32}, {128, 2, 1, 64}};
constexpr std::int64_t features = 256, stem_parameters = 7 * 7 * colours * width + 2 * width;
/// The first convolution's result, its norm, the position of each window's maximum, and the pool's result.
constexpr std::int64_t stem = 2 * images * 16 * 16 * width + 2 * width + 2 * images * 8 * 8 * width;
constexpr std::int64_t classifier = images * features + images * classes;
constexpr std::int64_t loss_bytes = 8;

}  // namespace golden

TEST_CASE("golden bytes: a resnet of four blocks, kept whole and with its blocks computed again") {
  std::int64_t parameters = golden::stem_parameters + golden::features * golden::classes + golden::classes;
  std::int64_t kept = golden::stem + golden::classifier;
  for (const golden::Block& block : golden::blocks) {
    parameters += block.parameters();
    kept += block.inside() + block.output();
  }
  REQUIRE(parameters == 130'962);
  const auto peak = [](const char* recompute) {
    Scenario s = resnet_scenario("gpipe", 1, 1, 1);
    s.model.layers = 4;
    s.model.image = 32;
    s.plan.recompute = recompute;
    s.plan.bucket_mib = 25;
    s.train.optimizer = "adamw";
    s.train.clip = 0;
    return memory_profile(compile(s).program_for(0)).peak_by_class;
  };
  const auto of = [](const ClassBytes& bytes, MemoryClass memory) { return bytes[static_cast<std::size_t>(memory)]; };
  const ClassBytes none = peak("none"), blocks = peak("blocks");
  for (const ClassBytes& bytes : {none, blocks}) {
    CHECK(of(bytes, MemoryClass::parameters) == 4 * parameters);
    CHECK(of(bytes, MemoryClass::gradients) == 4 * parameters);
    CHECK(of(bytes, MemoryClass::optimizer) == 2 * 4 * parameters);  // AdamW's two moments
  }
  CHECK(of(none, MemoryClass::activations) == 4 * kept + golden::loss_bytes);
  // When the first block, the largest, is recomputed, the later blocks have already freed all their memory.
  const golden::Block& first = golden::blocks[0];
  CHECK(of(blocks, MemoryClass::activations) == 4 * (golden::stem + first.inside() + first.output()));
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
