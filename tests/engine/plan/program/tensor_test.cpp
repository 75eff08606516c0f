// Programs of tensor ranks: their communication and memory, compared with the formulas of Megatron-LM (Shoeybi et al.
// 2019) and of sequence parallelism (Korthikanti et al. 2022).
#include <map>
#include <set>

#include "engine/plan/program/bucket.hpp"
#include "engine/plan/program/communication.hpp"
#include "engine/plan/program/dry_run.hpp"
#include "engine/plan/program/passes.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

namespace {

Scenario tensor_scenario(int tensor, bool sequence_parallel, const char* schedule = "1f1b", int data = 1,
                         int pipeline = 1, int micro_batches = 1, bool tied = true) {
  Scenario s = chunked_scenario(schedule, data, pipeline, micro_batches, tied);
  s.model.heads = 4;
  s.model.vocabulary = 31;  // not a multiple of two or four
  s.plan.tensor = tensor;
  s.plan.sequence_parallel = sequence_parallel;
  s.plan.bucket_mib = 0.01;
  return s;
}

bool is_replicated(const StepProgram& step, int parameter) {
  return step.model.parameters[static_cast<std::size_t>(parameter)].split.axis < 0;
}

/// The number of collectives of the tensor group in a block, and the bytes of the whole tensors, by kind.
struct Moved {
  std::map<OpKind, int> count;
  std::map<OpKind, std::int64_t> bytes;
};
Moved moved(const RankProgram& program, int tensor, int block) {
  Moved m;
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    if (f.purpose != Purpose::tensor || f.block != block || f.micro_batch < 0) continue;
    ++m.count[f.kind];
    m.bytes[f.kind] += whole_bytes(program, op, tensor);
  }
  return m;
}

/// Bytes of activations that a block's forward wrote or read, and its backward reads.
std::int64_t kept_of_block(const RankProgram& program, int block) {
  std::set<BufferIndex> seen, kept;
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    if (f.block != block || f.micro_batch != 0) continue;
    const bool forward = f.kind == OpKind::forward || (is_collective(f.kind) && f.index == 0);
    for (const BufferUse& use : op.uses) {
      const Buffer& buffer = program.buffers[use.buffer];
      if (buffer.micro_batch < 0 || buffer.parameter >= 0) continue;
      if (forward)
        seen.insert(use.buffer);
      else if (use.access == Access::read && seen.contains(use.buffer))
        kept.insert(use.buffer);
    }
  }
  std::int64_t bytes = 0;
  for (const BufferIndex b : kept) bytes += program.buffers[b].bytes();
  return bytes;
}

}  // namespace

TEST_CASE("programs of tensor ranks complete, keep the rules of communication, and parse back") {
  const int tensor = GENERATE(2, 4);
  const bool sequence_parallel = GENERATE(false, true);
  const int zero = GENERATE(0, 1, 2, 3);
  for (const auto* schedule : {"naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v"})
    for (const auto* recompute : {"none", "blocks", "sqrt", "selective"}) {
      Scenario s = tensor_scenario(tensor, sequence_parallel, schedule, 2, 2, 4);
      s.plan.zero = zero;
      s.plan.recompute = recompute;
      const StepProgram step = compile(s);
      const std::vector<RankProgram> programs = step.all_programs();
      INFO("tensor " << tensor << (sequence_parallel ? " sequence-parallel" : "") << " ZeRO-" << zero << " " << schedule
                     << " " << recompute);
      const auto misuse = find_misuse(programs, step.grid);
      if (misuse) FAIL(*misuse);
      const auto deadlock = find_deadlock(programs, step.grid);
      if (deadlock) FAIL(*deadlock);
      CHECK(to_text(parse_program(to_text(programs[1]))) == to_text(programs[1]));
      // The programs of tensor ranks differ only in their peers.
      REQUIRE(programs[0].ops.size() == programs[1].ops.size());
      for (std::size_t i = 0; i < programs[0].ops.size(); ++i) REQUIRE(programs[0].ops[i].id == programs[1].ops[i].id);
    }
}

TEST_CASE("a block all-reduces tokens × width twice forward and twice backward") {
  for (const int tensor : {2, 4}) {
    const StepProgram step = compile(tensor_scenario(tensor, false));
    const std::int64_t sbh = step.model.tokens() * step.model.spec.width * bytes_of(step.model.type);
    const Moved m = moved(step.program_for(0), tensor, 1);
    CHECK(m.count == std::map<OpKind, int>{{OpKind::all_reduce, 4}});
    CHECK(m.bytes.at(OpKind::all_reduce) == 4 * sbh);
  }
}

TEST_CASE(
    "sequence parallelism moves the same bytes (an all-reduce is a reduce-scatter and an all-gather), and those that "
    "it "
    "gathers again") {
  for (const int tensor : {2, 4}) {
    const StepProgram step = compile(tensor_scenario(tensor, true));
    const std::int64_t sbh = step.model.tokens() * step.model.spec.width * bytes_of(step.model.type);
    const Moved m = moved(step.program_for(0), tensor, 1);
    // Two of each forward, two of each backward; and the two norms' outputs again for the weight gradients.
    CHECK(m.count == std::map<OpKind, int>{{OpKind::all_gather, 6}, {OpKind::reduce_scatter, 4}});
    CHECK(m.bytes.at(OpKind::reduce_scatter) == 4 * sbh);
    CHECK(m.bytes.at(OpKind::all_gather) == (4 + 2) * sbh);
  }
}

TEST_CASE("outside the blocks a tensor group sums the embedding, the head's gradient, and three numbers per token") {
  const StepProgram step = compile(tensor_scenario(2, false));
  const RankProgram program = step.program_for(0);
  const std::int64_t tokens = step.model.tokens(), sbh = tokens * step.model.spec.width * 4;
  const Moved m = moved(program, 2, -1);
  CHECK(m.count == std::map<OpKind, int>{{OpKind::all_reduce, 2}});
  CHECK(m.bytes.at(OpKind::all_reduce) == 2 * sbh);
  std::int64_t statistics = 0;
  for (const Op& op : program.ops)
    if (op.id.fields().purpose == Purpose::loss) statistics += contribution_bytes(program, op, 2);
  CHECK(statistics == 3 * tokens * 4);
}

TEST_CASE("a block keeps sbh(8 + 24/t) bytes in 16 bits, all of it over t with sequence parallelism") {
  // Korthikanti et al. 2022, table 2, have sbh(10 + 24/t + 5as/(ht)) and, with sequence parallelism, sbh(34 + 5as/h)/t.
  // Two of their 10 are dropout's masks, which are drawn again here. 5as/h are attention's scores, of which one number
  // per row and head is kept here (4 bytes). Norms keep two numbers per row (4 bytes each), which their formula omits.
  for (const int tensor : {2, 4})
    for (const bool sequence_parallel : {false, true}) {
      Scenario s = tensor_scenario(tensor, sequence_parallel);
      s.plan.precision = "bf16";
      s.model.dropout = 0.1;
      const StepProgram step = compile(s);
      const std::int64_t sb = step.model.tokens(), h = s.model.width, t = tensor, a = s.model.heads;
      const std::int64_t stream = sequence_parallel ? t : 1;  // divisor of the stream's rows
      const std::int64_t expected = 8 * sb * h / stream + 24 * sb * h / t + 4 * sb * a / t + 4 * 4 * sb / stream;
      INFO("tensor " << tensor << (sequence_parallel ? " sequence-parallel" : ""));
      CHECK(kept_of_block(step.program_for(0), 1) == expected);
    }
  // A single rank: 2 bytes for each of 16 vectors.
  Scenario alone = tensor_scenario(1, true);
  alone.plan.precision = "bf16";
  const StepProgram step = compile(alone);
  const std::int64_t sb = step.model.tokens();
  CHECK(kept_of_block(step.program_for(0), 1) == 32 * sb * 16 + 4 * sb * 4 + 4 * 4 * sb);
}

TEST_CASE("what is gathered for a product is freed after it") {
  const StepProgram step = compile(tensor_scenario(2, true, "gpipe", 1, 1, 2));
  const RankProgram program = step.program_for(0);
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  int gathered = 0;
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    if (f.kind != OpKind::all_gather || f.purpose != Purpose::tensor || f.index == 2) continue;
    ++gathered;
    const Lifetime& lifetime = lifetimes[op.uses.back().buffer];
    int compute = 0;
    for (OpIndex i = lifetime.first; i <= lifetime.last; ++i) compute += is_model_compute(program.ops[i].id.kind());
    CHECK(compute <= 2);  // the product, and the op that hides the gather
  }
  CHECK(gathered == 2 * (4 * (2 + 2) + 1 + 1));  // blocks: forward and again; the head: forward and again
}

TEST_CASE("stages exchange a rank's rows of the stream") {
  for (const bool sequence_parallel : {false, true}) {
    const StepProgram step = compile(tensor_scenario(4, sequence_parallel, "1f1b", 1, 2, 2));
    const RankProgram program = step.program_for(1);
    const std::int64_t sbh = step.model.tokens() * step.model.spec.width * 4;
    int messages = 0;
    for (const Op& op : program.ops)
      if (op.id.kind() == OpKind::send || op.id.kind() == OpKind::receive) {
        ++messages;
        CHECK(program.payload_bytes(op) == (sequence_parallel ? sbh / 4 : sbh));
        CHECK(op.peer == 5);
      }
    CHECK(messages == 4);
  }
}

TEST_CASE("gradients that tensor ranks sum are summed once a chunk, on the data group's shards") {
  const int zero = GENERATE(0, 1, 2, 3);
  const bool sequence_parallel = GENERATE(false, true);
  Scenario s = tensor_scenario(2, sequence_parallel, "interleaved", 2, 2, 2);
  s.plan.zero = zero;
  const StepProgram step = compile(s);
  std::int64_t elements = 0;
  for (int data = 0; data < 2; ++data) {
    const RankProgram program = step.program_for(step.grid.rank_of({1, data, 0}));
    int sums = 0;
    for (const Op& op : program.ops) {
      const OpFields f = op.id.fields();
      if (f.purpose != Purpose::tensor || f.micro_batch >= 0) continue;
      ++sums;
      elements += program.payload_bytes(op) / 4;
    }
    INFO("ZeRO-" << zero << " data " << data);
    if (!sequence_parallel)
      CHECK(sums == 0);
    else if (zero < 3)
      CHECK(sums == 2);  // two chunks
    else
      CHECK(sums <= 3);  // a block of each chunk, and the positions, if this rank has a shard of them
  }
  if (!sequence_parallel) return;
  std::int64_t replicated = 0;
  for (const int p : completion_order(step, 0))
    if (is_replicated(step, p)) replicated += step.model.parameters[static_cast<std::size_t>(p)].shape.elements();
  // Without ZeRO every replica sums all of them. Padding is at most a cache line per entry and the end of a shard.
  const std::int64_t expected = zero == 0 ? 2 * replicated : replicated;
  CHECK(elements >= expected);
  CHECK(elements <= expected + 2 * 2 * 40 * 16);
}

TEST_CASE("buckets of a sequence-parallel rank group what is summed, and have every parameter once") {
  const int zero = GENERATE(0, 2, 3);
  const bool tied = GENERATE(true, false);
  Scenario s = tensor_scenario(2, true, "zb-v", 2, 2, 2, tied);
  s.plan.zero = zero;
  const StepProgram step = compile(s);
  for (int stage = 0; stage < 2; ++stage) {
    std::set<int> parameters;
    for (const Bucket& bucket : buckets_of(step, stage)) {
      for (const BucketEntry& entry : bucket.entries) {
        CHECK(parameters.insert(entry.parameter).second);
        CHECK(step.model.sums_gradient(entry.parameter) == (entry.at < bucket.summed));
      }
      if (zero < 3) CHECK((bucket.summed == 0 || step.model.sums_gradient(bucket.entries.back().parameter)));
    }
    CHECK(parameters.size() == completion_order(step, stage).size());
  }
}

TEST_CASE("every parameter counts once in the norm over all ranks of a replica") {
  const bool tied = GENERATE(true, false);
  const StepProgram step = compile(tensor_scenario(4, true, "1f1b", 1, 2, 2, tied));
  std::map<int, std::int64_t> counted;
  for (const RankProgram& program : step.all_programs())
    for (const Op& op : program.ops)
      if (op.id.fields().segment == Segment::norm)
        for (std::size_t i = 2; i < op.uses.size(); ++i) {
          const Buffer& gradient = program.buffers[op.uses[i].buffer];
          counted[gradient.parameter] += gradient.shape.elements();
        }
  for (std::size_t p = 0; p < step.model.parameters.size(); ++p) {
    const ParameterSpec& spec = step.model.parameters[p];
    INFO(spec.name);
    const std::int64_t padding = spec.split.axis == 0 && spec.split.groups == 1 && spec.whole[0] == 31 ? 16 : 0;
    CHECK(counted[static_cast<int>(p)] == spec.whole.elements() + padding);
  }
}

TEST_CASE("recomputation on tensor ranks repeats their exchanges, except for the last product's sum") {
  const bool sequence_parallel = GENERATE(false, true);
  Scenario s = tensor_scenario(2, sequence_parallel);
  s.plan.recompute = "blocks";
  const StepProgram step = compile(s);
  std::string repeated;
  for (const Op& op : step.program_for(0).ops) {
    const OpFields f = op.id.fields();
    if (f.block != 1) continue;
    if (f.kind == OpKind::recompute) repeated.append(name_of(f.segment)).append(" ");
    if (is_collective(f.kind) && f.index == static_cast<int>(TensorPhase::recompute))
      repeated.append(name_of(f.kind)).append(" ");
  }
  CHECK(repeated == (sequence_parallel
                         ? "attention_norm all_gather qkv attention projection reduce_scatter mlp_norm all_gather up "
                         : "attention_norm qkv attention projection all_reduce mlp_norm up "));
}

TEST_CASE("invalid plans of tensor ranks are refused") {
  Scenario s = tensor_scenario(3, false);
  CHECK_THROWS_WITH(compile(s), ContainsText("plan.tensor: 4 heads cannot be shared by 3 tensor ranks"));
  s = tensor_scenario(4, true);
  s.model.context = 3;
  CHECK_THROWS_WITH(compile(s), ContainsText("a micro-batch of 6 tokens cannot be shared by 4 tensor ranks"));
  s.plan.sequence_parallel = false;
  CHECK_NOTHROW(compile(s));
  for (const auto* optimizer : {"adafactor", "adam8bit", "lars", "lamb"}) {
    s = tensor_scenario(2, false);
    s.train.optimizer = optimizer;
    CHECK_THROWS_WITH(compile(s), ContainsText(std::string(optimizer) + " updates elements of a tensor together"));
  }
  // With one rank there is nothing to share.
  const StepProgram alone = compile(tensor_scenario(1, true));
  CHECK_FALSE(alone.model.sequence_parallel);
  CHECK(to_text(alone.program_for(0)) == to_text(compile(tensor_scenario(1, false)).program_for(0)));
}
