#include <map>
#include <numeric>
#include <set>

#include "engine/plan/program/bucket.hpp"
#include "engine/plan/program/communication.hpp"
#include "engine/plan/program/dry_run.hpp"
#include "engine/plan/program/passes.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

namespace {

Scenario zero_scenario(int zero, int data, int pipeline, int micro_batches, bool tied = true,
                       const char* schedule = "1f1b") {
  Scenario s = chunked_scenario(schedule, data, pipeline, micro_batches, tied);
  s.plan.zero = zero;
  s.plan.bucket_mib = 0.01;
  return s;
}

std::int64_t bytes_of_class(const RankProgram& program, MemoryClass memory) {
  std::int64_t bytes = 0;
  for (const Buffer& b : program.buffers)
    if (b.persistent && b.within < 0 && b.memory == memory) bytes += b.bytes();
  return bytes;
}

/// Bytes that the rank's program communicates for a purpose, counted as whole tensors.
std::int64_t moved(const StepProgram& step, const RankProgram& program, Purpose purpose) {
  std::int64_t bytes = 0;
  for (const Op& op : program.ops)
    if (op.id.fields().purpose == purpose) bytes += whole_bytes(program, op, step.grid.data);
  return bytes;
}

}  // namespace

TEST_CASE("programs of every stage of ZeRO complete, keep the rules of communication, and parse back") {
  const int zero = GENERATE(1, 2, 3);
  const bool tied = GENERATE(true, false);
  for (const auto* schedule : {"naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-v"})
    for (const auto* recompute : {"none", "blocks", "sqrt", "selective"}) {
      Scenario s = zero_scenario(zero, 3, 2, 4, tied, schedule);
      s.plan.recompute = recompute;
      const StepProgram step = compile(s);
      const std::vector<RankProgram> programs = step.all_programs();
      INFO("ZeRO-" << zero << " " << schedule << " " << recompute);
      const auto misuse = find_misuse(programs, step.grid);
      if (misuse) FAIL(*misuse);
      CHECK_FALSE(find_deadlock(programs, step.grid));
      CHECK(to_text(parse_program(to_text(programs[1]))) == to_text(programs[1]));
    }
}

TEST_CASE("the pieces of all ranks of a data group cover every element once") {
  const int zero = GENERATE(1, 2, 3);
  const auto* optimizer = GENERATE("adamw", "adam8bit");
  Scenario s = zero_scenario(zero, 3, 2, 2);
  s.train.optimizer = optimizer;
  const StepProgram step = compile(s);
  const std::int64_t grain = std::string_view(optimizer) == "adam8bit" ? 256 : 1;
  std::map<int, std::set<std::int64_t>> begins;
  std::map<int, std::int64_t> elements;
  for (int data = 0; data < 3; ++data) {
    const RankProgram program = step.program_for(step.grid.rank_of({0, data, 0}));
    for (const Buffer& b : program.buffers) {
      if (!b.piece || b.memory != MemoryClass::parameters) continue;
      CHECK(begins[b.parameter].insert(b.first).second);
      CHECK(b.first % grain == 0);
      elements[b.parameter] += b.shape.elements();
    }
  }
  CHECK(elements.size() == 2 + 2 * 12);
  for (const auto& [parameter, count] : elements)
    CHECK(count == step.model.parameters[static_cast<std::size_t>(parameter)].shape.elements());
}

TEST_CASE("each stage of ZeRO shards its data evenly over the data group, up to padding") {
  // Rajbhandari et al. 2020, figure 1: stage 1 shards the states, stage 2 gradients too, stage 3 parameters too.
  const RankProgram whole = compile(zero_scenario(0, 4, 1, 2, false)).program_for(0);
  const auto share = [&](int zero, MemoryClass memory) {
    const RankProgram program = compile(zero_scenario(zero, 4, 1, 2, false)).program_for(1);
    return static_cast<double>(bytes_of_class(program, memory)) / static_cast<double>(bytes_of_class(whole, memory));
  };
  using enum MemoryClass;
  CHECK(share(1, parameters) == Approx(1).epsilon(0.05));
  CHECK(share(1, gradients) == Approx(1).epsilon(0.05));
  CHECK(share(1, optimizer) == Approx(0.25).epsilon(0.05));
  CHECK(share(2, parameters) == Approx(1).epsilon(0.05));
  CHECK(share(2, gradients) == Approx(0.25).epsilon(0.05));
  CHECK(share(2, optimizer) == Approx(0.25).epsilon(0.05));
  for (const MemoryClass memory : {parameters, gradients, optimizer})
    CHECK(share(3, memory) == Approx(0.25).epsilon(0.05));
}

TEST_CASE("stage 1 moves what data parallelism moves; stage 3 half as much again, for one micro-batch") {
  // Rajbhandari et al. 2020, section 7: a reduce-scatter and a gather of Ψ are an all-reduce; stage 3 gathers twice.
  const auto bytes = [](int zero, Purpose purpose) {
    const StepProgram step = compile(zero_scenario(zero, 2, 1, 1, false));
    return moved(step, step.program_for(0), purpose);
  };
  const std::int64_t psi = bytes(1, Purpose::zero_gradient);
  CHECK(psi == bytes(0, Purpose::data_gradient));
  CHECK(bytes(1, Purpose::zero_parameter) == psi);
  CHECK(bytes(2, Purpose::zero_parameter) == psi);
  CHECK(bytes(2, Purpose::zero_gradient) == psi);
  // The head's backward directly follows its forward: one gather serves both. The embedding's backward needs none.
  const StepProgram step = compile(zero_scenario(3, 2, 1, 1, false));
  const std::vector<Bucket> buckets = buckets_of(step, 0);
  const std::int64_t once = buckets.front().elements + buckets.back().elements;
  const std::int64_t gathered = bytes(3, Purpose::zero_parameter), scattered = bytes(3, Purpose::zero_gradient);
  CHECK(gathered == 2 * scattered - 4 * once);
}

TEST_CASE("stage 3 gathers a block one block ahead and frees it after its last use") {
  const StepProgram step = compile(zero_scenario(3, 2, 1, 1, false));
  const RankProgram program = step.program_for(0);
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  std::int64_t most = 0, largest = 0;
  for (const Bucket& bucket : buckets_of(step, 0)) largest = std::max(largest, bucket.elements);
  for (OpIndex i = 0; i < program.ops.size(); ++i) {
    std::int64_t alive = 0;
    for (BufferIndex b = 0; b < program.buffers.size(); ++b)
      if (const Buffer& buffer = program.buffers[b]; buffer.memory == MemoryClass::parameters && !buffer.persistent &&
                                                     lifetimes[b].used() && lifetimes[b].first <= i &&
                                                     i <= lifetimes[b].last)
        alive += buffer.shape.elements();
    most = std::max(most, alive);
  }
  CHECK(most <= 2 * largest);
  CHECK(most >= largest);
}

TEST_CASE("an optimizer that needs whole tensors is refused") {
  Scenario s = zero_scenario(2, 2, 1, 1);
  s.train.optimizer = "adafactor";
  CHECK_THROWS_WITH(compile(s), ContainsText("adafactor updates a tensor only as a whole"));
  s.plan.data = 1;  // not shared with another rank, but plan.zero is still set
  CHECK_THROWS_AS(compile(s), PlanError);
}

TEST_CASE("buffers have roles: one loss scale, a master and two moments per parameter, a shard per bucket") {
  const int zero = GENERATE(0, 1, 2, 3);
  const bool offload = GENERATE(false, true);
  if (offload && zero == 0) return;
  Scenario s = zero_scenario(zero, 2, 2, 2);
  s.plan.precision = "fp16";
  s.plan.offload = offload ? "optimizer" : "none";
  const StepProgram step = compile(s);
  for (const RankProgram& program : step.all_programs()) {
    INFO("ZeRO-" << zero << ", offload " << offload << ", rank " << program.rank);
    int scales = 0;
    std::map<int, std::vector<std::string>> states;  // by parameter
    std::multiset<int> shards;
    for (const Buffer& b : program.buffers) {
      INFO(b.name);
      scales += b.role == BufferRole::loss_scale;
      if (b.role == BufferRole::loss_scale) CHECK(!b.host);
      if (is_state(b)) states[b.parameter].push_back(b.role == BufferRole::master ? "the master" : b.state);
      if (b.role == BufferRole::parameter && b.shard_of >= 0) shards.insert(b.shard_of);
      CHECK(is_state(b) == !b.state.empty());
      CHECK((b.role == BufferRole::parameter) == (b.memory == MemoryClass::parameters));
      CHECK((b.role == BufferRole::gradient) == (b.memory == MemoryClass::gradients));
      CHECK(holds_weights(b) == (b.persistent && b.parameter >= 0 &&
                                 (b.memory == MemoryClass::parameters || b.role == BufferRole::master)));
    }
    CHECK(scales == 1);
    CHECK(!states.empty());
    for (const auto& [parameter, of] : states) CHECK(of == std::vector<std::string>{"the master", "m", "v"});
    const std::vector<Bucket> buckets = buckets_of(step, step.grid.coordinates_of(program.rank).pipeline);
    for (const Bucket& bucket : buckets) CHECK(shards.count(bucket.index) == (zero == 3 ? 1u : 0u));
  }
}
