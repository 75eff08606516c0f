#include <map>
#include <set>

#include "engine/plan/program/dry_run.hpp"
#include "engine/plan/program/passes.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

namespace {

constexpr auto activations = static_cast<std::size_t>(MemoryClass::activations);

StepProgram step_with(std::string recompute, std::string schedule = "gpipe", int pipeline = 1, int layers = 4) {
  Scenario s = chunked_scenario(std::move(schedule), 1, pipeline, 4);
  s.model.layers = std::max(s.model.layers, layers);
  s.plan.recompute = std::move(recompute);
  return compile(s);
}

/// The ops that are repeated, by block: their tokens without chunk and micro-batch.
std::map<int, std::string> repeated_of_micro_batch(const RankProgram& program, int micro_batch) {
  std::map<int, std::string> repeated;
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    if (f.kind == OpKind::recompute && f.micro_batch == micro_batch)
      repeated[f.block].append(name_of(f.segment)).append(" ");
  }
  return repeated;
}

/// Activation bytes alive after all forwards and before all backwards of a GPipe rank.
std::int64_t kept_between(const RankProgram& program) {
  const MemoryProfile profile = memory_profile(program);
  std::size_t last_forward = 0;
  for (std::size_t i = 0; i < program.ops.size(); ++i)
    if (program.ops[i].id.kind() == OpKind::forward) last_forward = i;
  return profile.at[last_forward][activations];
}

/// Bytes that a block's backward reads of the data that its forwards wrote, without the block's own output.
std::int64_t kept_of_a_block(const RankProgram& program, int micro_batch, int block) {
  std::set<BufferIndex> written, kept;
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    if (f.micro_batch != micro_batch || f.block != block) continue;
    for (const BufferUse& use : op.uses) {
      if (f.kind == OpKind::forward && use.access == Access::write) written.insert(use.buffer);
      if (f.kind == OpKind::backward && written.contains(use.buffer)) kept.insert(use.buffer);
    }
  }
  std::int64_t bytes = 0;
  for (const BufferIndex b : kept) bytes += program.buffers[b].bytes();
  return bytes;
}

}  // namespace

TEST_CASE("each block is repeated except for its last product, whose result no backward reads") {
  const RankProgram program = step_with("blocks").program_for(0);
  for (const int m : {0, 3}) {
    const auto repeated = repeated_of_micro_batch(program, m);
    REQUIRE(repeated.size() == 4);
    for (const auto& [block, ops] : repeated) CHECK(ops == "qkv attention projection up ");
  }
}

TEST_CASE("a block's recomputation is directly before the backward that reads it") {
  const auto* schedule = GENERATE("gpipe", "1f1b", "zb-h1", "zb-v", "interleaved");
  const StepProgram step = step_with("blocks", schedule, 2);
  for (const RankProgram& program : step.all_programs())
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
      const OpFields f = program.ops[i].id.fields();
      if (f.kind != OpKind::recompute || f.segment != Segment::up) continue;
      // The next op of the compute lane: receives may be posted in between.
      std::size_t next = i + 1;
      while (program.ops[next].lane() != Lane::compute) ++next;
      const OpFields after = program.ops[next].id.fields();
      CHECK(after.block == f.block);
      CHECK(after.micro_batch == f.micro_batch);
      // The last product's backward goes through GELU, and reads GELU's input.
      CHECK((after.kind == OpKind::backward || after.kind == OpKind::input_gradient));
      CHECK(after.segment == Segment::down);
    }
}

TEST_CASE("between forward and backward a block keeps only its input") {
  const RankProgram all = step_with("none").program_for(0), few = step_with("blocks").program_for(0);
  std::int64_t saved = 0;
  for (int m = 0; m < 4; ++m)
    for (int block = 0; block < 4; ++block) saved += kept_of_a_block(all, m, block);
  CHECK(saved > 0);
  // The last forward is the head's: no block is being computed then.
  CHECK(kept_between(all) - kept_between(few) == saved);
}

TEST_CASE("groups of about sqrt(n) blocks keep one input each") {
  const StepProgram step = step_with("sqrt", "gpipe", 1, 9);
  const RankProgram all = step_with("blocks", "gpipe", 1, 9).program_for(0), few = step.program_for(0);
  // Nine blocks in groups of three: two of each three inputs are not kept.
  const std::int64_t input = step.model.tokens() * step.model.spec.width * 4;
  CHECK(kept_between(all) - kept_between(few) == 4 * 6 * input);
  // Within a group the last product is repeated: the next block reads its result.
  const auto repeated = repeated_of_micro_batch(few, 0);
  for (const int block : {0, 1, 3, 4, 6, 7}) CHECK(repeated.at(block) == "qkv attention projection up down ");
  for (const int block : {2, 5, 8}) CHECK(repeated.at(block) == "qkv attention projection up ");
}

TEST_CASE("if n blocks are recomputed together, one input is kept for all n") {
  Scenario s = chunked_scenario("gpipe", 1, 1, 4);
  s.model.layers = 7;
  s.plan.recompute = "blocks";
  const std::int64_t input = s.micro_batch_size() * s.model.context * s.model.width * bytes_of(DType::f32);
  const auto kept = [&](int blocks) {
    s.plan.recompute_blocks = blocks;
    return kept_between(compile(s).program_for(0));
  };
  // Four micro-batches; 7 blocks are 7, 4 and 3 groups. The head and the last group's output stay the same.
  CHECK(kept(1) - kept(2) == 4 * (7 - 4) * input);
  CHECK(kept(1) - kept(3) == 4 * (7 - 3) * input);
}

TEST_CASE("selective recomputation repeats attention and keeps no softmax") {
  const StepProgram step = step_with("selective");
  const RankProgram all = step_with("none").program_for(0), few = step.program_for(0);
  const auto repeated = repeated_of_micro_batch(few, 2);
  REQUIRE(repeated.size() == 4);
  for (const auto& [block, ops] : repeated) CHECK(ops == "attention ");
  std::int64_t saved = 0;
  std::set<BufferIndex> seen;
  for (const Op& op : all.ops)
    if (op.id.kind() == OpKind::forward && op.id.fields().segment == Segment::attention)
      for (const BufferUse& use : op.uses)
        if (use.access == Access::write && seen.insert(use.buffer).second) saved += all.buffers[use.buffer].bytes();
  CHECK(kept_between(all) - kept_between(few) == saved);
}

TEST_CASE("programs with recomputation are sound and read back") {
  const auto* recompute = GENERATE("blocks", "sqrt", "selective");
  const auto* schedule = GENERATE("1f1b", "zb-h2", "zb-v", "interleaved");
  const StepProgram step = step_with(recompute, schedule, 2);
  const auto programs = step.all_programs();
  CAPTURE(recompute, schedule);
  CHECK_FALSE(find_deadlock(programs, step.grid).has_value());
  for (const RankProgram& program : programs) CHECK(to_text(parse_program(to_text(program))) == to_text(program));
}
