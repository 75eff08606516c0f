// The interleaved and the zero-bubble schedules: small ones written out, and properties of all of them.
#include <algorithm>
#include <map>
#include <set>

#include "engine/plan/schedule/schedule.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// "F0 I0 W0" if a stage has one chunk; otherwise with the chunk: "F2.0" is the forward of chunk 2, micro-batch 0.
std::string words(const ChunkSchedule& schedule, int stage) {
  std::string text;
  for (const OpId id : schedule.order[static_cast<std::size_t>(stage)]) {
    const OpFields f = id.fields();
    text += text.empty() ? "" : " ";
    text += to_token(id).substr(0, 1);
    if (schedule.shape.virtual_stages > 1) text += std::to_string(f.chunk) + ".";
    text += std::to_string(f.micro_batch);
  }
  return text;
}

ChunkSchedule built(const std::string& name, PipelineShape shape) {
  if (name == "interleaved") return interleaved_schedule(shape);
  if (name == "zb-h1") return zb_h1_schedule(shape);
  if (name == "zb-h2") return zb_h2_schedule(shape);
  if (name == "zb-2p") return zb_2p_schedule(shape);
  return zb_v_schedule(shape);
}

/// Greatest number of micro-batches kept on a stage, in units of all its chunks. `after_input` is the share that a
/// chunk still keeps between its input gradient and its weight gradient.
double most_kept(const ChunkSchedule& schedule, int stage, double after_input) {
  double now = 0, most = 0;
  for (const OpId id : schedule.order[static_cast<std::size_t>(stage)]) {
    switch (id.kind()) {
      case OpKind::forward: now += 1; break;
      case OpKind::backward: now -= 1; break;
      case OpKind::input_gradient: now -= 1 - after_input; break;
      case OpKind::weight_gradient: now -= after_input; break;
      default: FAIL("not a schedule's op: " << to_token(id));
    }
    most = std::max(most, now);
  }
  return most / schedule.shape.virtual_stages;
}

}  // namespace

TEST_CASE("interleaved 1F1B on two stages of two chunks reads as Megatron-LM's") {
  const ChunkSchedule s = interleaved_schedule({2, 2, 4});
  CHECK(words(s, 0) == "F0.0 F0.1 F2.0 F2.1 F0.2 B2.0 F0.3 B2.1 F2.2 B0.0 F2.3 B0.1 B2.2 B2.3 B0.2 B0.3");
  CHECK(words(s, 1) == "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 F1.2 B1.0 F1.3 B1.1 F3.2 B3.2 F3.3 B3.3 B1.2 B1.3");
}

TEST_CASE("interleaved 1F1B warms up with 2(p-r-1) + (v-1)p forwards: 10, 8, 6, 4 on four stages of two chunks") {
  const ChunkSchedule s = interleaved_schedule({4, 2, 8});
  for (int r = 0; r < 4; ++r) {
    const auto& order = s.order[static_cast<std::size_t>(r)];
    const auto gradient =
        std::find_if(order.begin(), order.end(), [](OpId id) { return id.kind() == OpKind::backward; });
    CHECK(gradient - order.begin() == 10 - 2 * r + 1);  // the steady phase begins with a forward
  }
}

TEST_CASE("interleaved 1F1B with one chunk a stage is 1F1B") {
  CHECK(interleaved_schedule({4, 1, 8}).order == one_f_one_b_schedule({4, 1, 8}).order);
}

TEST_CASE("ZB-H1 on three stages is 1F1B with weight gradients in the gaps") {
  const ChunkSchedule s = zb_h1_schedule({3, 1, 4});
  CHECK(words(s, 0) == "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
  CHECK(words(s, 1) == "F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3");
  CHECK(words(s, 2) == "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
}

TEST_CASE("ZB-H2 on three stages has twice the warm-up") {
  const ChunkSchedule s = zb_h2_schedule({3, 1, 5});
  CHECK(words(s, 0) == "F0 F1 F2 F3 F4 I0 W0 I1 W1 I2 W2 I3 W3 I4 W4");
  CHECK(words(s, 1) == "F0 F1 F2 I0 F3 I1 F4 I2 W0 I3 W1 I4 W2 W3 W4");
  CHECK(words(s, 2) == "F0 I0 F1 I1 F2 I2 F3 I3 F4 I4 W0 W1 W2 W3 W4");
}

TEST_CASE("ZB-2p is ZB-H2 for 2p - 1 micro-batches whose passes take equally long; of more it holds one more") {
  for (int p = 2; p <= 8; ++p) {
    CAPTURE(p);
    CHECK(zb_2p_schedule({p, 1, 2 * p - 1}).order == zb_h2_schedule({p, 1, 2 * p - 1}).order);
    const int last = p - 1, m = 4 * p;
    CHECK(most_kept(zb_h2_schedule({p, 1, m}), last, 1) == 2 * p - 1);
    CHECK(most_kept(zb_2p_schedule({p, 1, m}), last, 1) == 2 * p);
  }
}

TEST_CASE(
    "ZB-2p on three stages with weight gradients half as long: two of them wait where the way to the end is long") {
  const ChunkSchedule s = zb_2p_schedule({3, 1, 4, {2, 2, 1, 0, 0.5}});
  CHECK(words(s, 0) == "F0 F1 F2 F3 I0 W0 I1 W1 I2 W2 I3 W3");
  CHECK(words(s, 1) == "F0 F1 F2 I0 F3 I1 W0 W1 I2 W2 I3 W3");
  CHECK(words(s, 2) == "F0 I0 F1 I1 F2 I2 F3 I3 W0 W1 W2 W3");
}

TEST_CASE("ZB-V on two stages: down the V with chunks 0 and 1, up with 2 and 3") {
  const ChunkSchedule s = zb_v_schedule({2, 2, 3});
  CHECK(s.stage_of_chunk == std::vector<int>{0, 1, 1, 0});
  CHECK(words(s, 0) == "F0.0 F0.1 F0.2 F3.0 I3.0 W3.0 F3.1 I3.1 W3.1 I0.0 W0.0 F3.2 I3.2 W3.2 I0.1 W0.1 I0.2 W0.2");
  CHECK(words(s, 1) == "F1.0 F2.0 F1.1 F2.1 I2.0 W2.0 F1.2 I1.0 W1.0 F2.2 I2.1 W2.1 I1.1 I2.2 I1.2 W1.1 W2.2 W1.2");
}

TEST_CASE("every chunk runs each micro-batch's forward and backward once, in micro-batch order, and completes") {
  for (const std::string name : {"interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v"})
    for (int p = 1; p <= 8; ++p)
      for (int v = 1; v <= 3; ++v)
        for (int m = 1; m <= 16; ++m) {
          if (name == "interleaved" ? m % p != 0 : v != (name == "zb-v" ? 2 : 1)) continue;
          CAPTURE(name, p, v, m);
          const ChunkSchedule s = built(name, {p, v, m});
          std::map<std::pair<OpKind, int>, int> next;  // micro-batch by kind and chunk
          for (int stage = 0; stage < p; ++stage)
            for (const OpId id : s.order[static_cast<std::size_t>(stage)]) {
              const OpFields f = id.fields();
              REQUIRE(s.stage_of_chunk[static_cast<std::size_t>(f.chunk)] == stage);
              // Gradients are summed in this order, so the bits are those of one rank.
              REQUIRE(next[{f.kind, f.chunk}]++ == f.micro_batch);
            }
          REQUIRE(next.size() == static_cast<std::size_t>((name == "interleaved" ? 2 : 3) * p * v));
          for (const auto& [what, count] : next) REQUIRE(count == m);
          const double bubble = ideal_bubble(s);  // throws if an op waits for itself
          const double whole = (name == "interleaved" ? v * m : 3 * m) + p - 1;
          if (name == "interleaved" || (name == "zb-h1" && m >= p))
            CHECK(bubble == Approx((p - 1) / whole).margin(1e-12));
          else if (m >= 2 * p)
            CHECK(bubble <= (p - 1) / whole + 1e-12);
        }
}

TEST_CASE("ZB-H1 keeps what 1F1B keeps on its first stage, ZB-H2 at most 2p-1 micro-batches, ZB-V p") {
  for (int p = 2; p <= 8; ++p)
    for (const int m : {2 * p, 3 * p + 1}) {
      CAPTURE(p, m);
      for (int stage = 0; stage < p; ++stage) {
        // In the worst case, a split backward keeps everything until its weight gradient has run.
        CHECK(most_kept(zb_h1_schedule({p, 1, m}), stage, 1) <= p);
        CHECK(most_kept(zb_h2_schedule({p, 1, m}), stage, 1) <= 2 * p - 1);
        CHECK(most_kept(zb_v_schedule({p, 2, m}), stage, 1) <= p);
      }
      CHECK(most_kept(zb_h1_schedule({p, 1, m}), 0, 1) == p);
      CHECK(most_kept(zb_h2_schedule({p, 1, m}), 0, 1) == 2 * p - 1);
      CHECK(most_kept(zb_v_schedule({p, 2, m}), 0, 1) == p);
    }
}

TEST_CASE("shapes that a schedule cannot run are refused with the reason") {
  CHECK_THROWS_WITH(interleaved_schedule({4, 2, 6}), ContainsText("6 is no multiple of 4"));
  CHECK_THROWS_WITH(zb_v_schedule({4, 1, 8}), ContainsText("exactly two chunks"));
}

TEST_CASE("the ideal bubble of an order that deadlocks is refused, with an op of the cycle") {
  ChunkSchedule s = one_f_one_b_schedule({2, 1, 2});
  std::swap(s.order[1][0], s.order[1][1]);  // B0 before F0
  CHECK_THROWS_WITH(ideal_bubble(s), ContainsText("never gets to"));
}
