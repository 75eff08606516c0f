#include "engine/plan/program/program.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "engine/plan/program/dry_run.hpp"
#include "engine/plan/program/passes.hpp"
#include "kernels/tensor/alignment.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"

using namespace rankscope;

TEST_CASE("every program of the supported plans completes under rendezvous") {
  for (const auto* schedule : {"naive", "gpipe", "1f1b"})
    for (const int data : {1, 2})
      for (const int pipeline : {1, 2, 4})
        for (const int m : {1, 2, 5, 8})
          for (const bool tied : {true, false}) {
            const StepProgram step = compile(small_scenario(schedule, data, pipeline, m, tied));
            INFO(schedule << " data " << data << " pipeline " << pipeline << " m " << m);
            CHECK(find_deadlock(step.all_programs(), step.grid).value_or("none") == "none");
          }
}

TEST_CASE("the activations alive on rank r are those of min(p-r, m) micro-batches under 1F1B and of m under GPipe") {
  for (const auto* schedule : {"1f1b", "gpipe"})
    for (const int p : {2, 4})
      for (const int m : {2, 3, 8}) {
        const StepProgram step = compile(small_scenario(schedule, 1, p, m));
        for (int rank = 0; rank < p; ++rank) {
          const RankProgram program = step.program_for(rank);
          std::map<int, std::pair<std::size_t, std::size_t>>
              life;  // micro-batch -> first, last op with its activations
          for (std::size_t i = 0; i < program.ops.size(); ++i)
            for (const BufferUse& use : program.ops[i].uses) {
              const Buffer& b = program.buffers[use.buffer];
              if (b.memory != MemoryClass::activations) continue;
              auto& [first, last] = life.try_emplace(b.micro_batch, i, i).first->second;
              last = i;
            }
          int most = 0;
          for (std::size_t i = 0; i < program.ops.size(); ++i)
            most = std::max(most, static_cast<int>(std::count_if(life.begin(), life.end(), [&](const auto& l) {
                              return l.second.first <= i && i <= l.second.second;
                            })));
          INFO(schedule << " p " << p << " m " << m << " rank " << rank);
          CHECK(most == (std::string_view(schedule) == "gpipe" ? m : std::min(p - rank, m)));
        }
      }
}

TEST_CASE("golden bytes: the second of two stages of a small untied model, by hand") {
  // L=4 h=16 a=2 s=8 V=32, b=2: T = 16 tokens. Stage 1 holds blocks 2 and 3 and the head.
  Scenario s = small_scenario("1f1b", 1, 2, 2, false);
  const RankProgram program = compile(s).program_for(1);
  const MemoryProfile profile = memory_profile(program);
  const auto of = [&](MemoryClass m) { return profile.peak_by_class[static_cast<std::size_t>(m)]; };
  // block: ln_1 2·16, c_attn 48·16+48, c_proj 16·16+16, ln_2 2·16, c_fc 64·16+64, c_proj 16·64+16 = 3280 parameters
  // head: ln_f 2·16, lm_head 32·16 = 544
  const std::int64_t parameters = 2 * 3280 + 544;
  CHECK(of(MemoryClass::parameters) == 4 * parameters);
  CHECK(of(MemoryClass::gradients) == 4 * parameters);
  CHECK(of(MemoryClass::optimizer) == 8 * parameters);
  // Per block: mean rstd norm1(16) qkv(48) | softmax 2·2·8 = 32 | attended 16 | middle 16 | mean rstd norm2 16,
  // pre_gelu 64, activated 64, output 16 — of T rows except the softmax. The last block's output feeds the head: it
  // stays. Head: mean rstd norm1 16 logits 32, and the loss of 8 bytes. One micro-batch is in flight on the last stage.
  const std::int64_t rows = 2 * (1 + 1 + 16 + 48 + 16 + 16 + 1 + 1 + 16 + 64 + 64 + 16) + (1 + 1 + 16 + 32);
  CHECK(of(MemoryClass::activations) == 4 * (16 * rows + 2 * 32) + 8);
}

TEST_CASE("buffers that are alive at the same time do not overlap, and views are inside their buffers") {
  const int zero = GENERATE(0, 1, 2, 3);
  for (const auto* schedule : {"naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v"}) {
    Scenario s = chunked_scenario(schedule, 2, 2, 4);
    s.plan.zero = zero;
    const RankProgram program = compile(s).program_for(2);
    const std::vector<Lifetime> lifetimes = lifetimes_of(program);
    for (BufferIndex a = 0; a < program.buffers.size(); ++a) {
      const Buffer& x = program.buffers[a];
      REQUIRE(x.offset >= 0);
      REQUIRE(x.offset + x.bytes() <= program.arena_bytes);
      if (x.within >= 0) {
        const Buffer& base = program.buffers[base_of(program.buffers, a)];
        REQUIRE(base.within < 0);
        REQUIRE(x.offset >= base.offset);
        REQUIRE(x.offset + x.bytes() <= base.offset + base.bytes());
        continue;
      }
      for (BufferIndex b = a + 1; b < program.buffers.size(); ++b) {
        const Buffer& y = program.buffers[b];
        if (y.within >= 0) continue;
        const bool together = x.persistent || y.persistent ||
                              (lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last);
        const bool overlap = x.offset < y.offset + y.bytes() && y.offset < x.offset + x.bytes();
        if (together && overlap) FAIL(schedule << ": " << x.name << " overlaps " << y.name);
      }
    }
  }
}

TEST_CASE("every gradient is in one bucket, at the same offset on every rank of the data group") {
  Scenario s = small_scenario("1f1b", 2, 2, 2);
  s.plan.bucket_mib = 0.01;
  const StepProgram step = compile(s);
  const RankProgram program = step.program_for(0), other = step.program_for(1);
  std::set<BufferIndex> buckets;
  for (const Op& op : program.ops)
    if (op.id.fields().purpose == Purpose::data_gradient) buckets.insert(op.uses.front().buffer);
  CHECK(buckets.size() > 1);
  int gradients = 0;
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.memory != MemoryClass::gradients || buffer.parameter < 0) continue;
    ++gradients;
    CHECK(buckets.count(base_of(program.buffers, b)) == 1);
    CHECK(program.buffers[base_of(program.buffers, b)].offset % tensor_alignment == 0);
    CHECK(buffer.offset % 64 == 0);  // within its bucket
    CHECK(other.buffers[b].name == buffer.name);
    CHECK(other.buffers[b].at == buffer.at);
  }
  CHECK(gradients == 2 + 2 * 12);  // embeddings and two blocks
}

TEST_CASE("a tied embedding's gradient is summed over first and last stage, and counted once in the norm") {
  const StepProgram step = compile(small_scenario("1f1b", 1, 4, 4, true));
  for (int rank = 0; rank < 4; ++rank) {
    const RankProgram program = step.program_for(rank);
    const bool end = rank == 0 || rank == 3;
    CHECK(std::count_if(program.ops.begin(), program.ops.end(),
                        [](const Op& op) { return op.id.fields().purpose == Purpose::embedding; }) == (end ? 1 : 0));
    bool counted = false;
    for (const Op& op : program.ops)
      if (op.id.fields().segment == Segment::norm)
        for (const BufferUse& use : op.uses) counted |= program.buffers[use.buffer].name == "gradient:wte.weight";
    CHECK(counted == (rank == 0));
  }
}

TEST_CASE("a schedule that deadlocks is detected and named") {
  StepProgram step = compile(small_scenario("1f1b", 1, 2, 2));
  // Swaps the micro-batches on stage 1: F1 B1 F0 B0.
  std::swap(step.schedule.order[1][0], step.schedule.order[1][2]);
  std::swap(step.schedule.order[1][1], step.schedule.order[1][3]);
  // So stage 1 waits for micro-batch 1, while stage 0's warm-up sends micro-batch 0 first and waits for its receiver.
  const auto found = find_deadlock(step.all_programs(), step.grid);
  REQUIRE(found.has_value());
  CHECK(found->find("deadlock: rank") == 0);
  CHECK(found->find("RECV.pipeline_forward:c1:m1") != std::string::npos);
  INFO(*found);
  CHECK(found->size() < 200);
}

TEST_CASE("more chunks than layers are refused") {
  Scenario s = small_scenario("1f1b", 1, 8, 8);
  CHECK_THROWS_AS(compile(s), PlanError);
}
