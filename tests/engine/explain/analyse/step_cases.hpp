// Programs, costs and checks for the tests that analyse one step.
#pragma once
#include <vector>

#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/timelines.hpp"

namespace rankscope::step_cases {

inline constexpr std::int64_t unit = 1000;

/// Two stages, one micro-batch, forward only.
inline std::vector<RankProgram> two_stages() {
  std::vector<RankProgram> programs(2);
  programs[1].rank = 1;
  const OpIndex f0 = add_op(programs[0], "F:c0:m0");
  add_message(programs[0], "SEND.pipeline_forward:c0:m0", 1, 8, {f0});
  const OpIndex received = add_message(programs[1], "RECV.pipeline_forward:c1:m0", 0, 8);
  add_op(programs[1], "F:c1:m0", {received});
  return programs;
}

/// Two data-parallel ranks: backward, all-reduce, update.
inline std::vector<RankProgram> two_replicas() {
  std::vector<RankProgram> programs(2);
  for (int r = 0; r < 2; ++r) {
    programs[r].rank = r;
    const OpIndex f = add_op(programs[r], "F:c0:m0");
    const OpIndex b = add_op(programs[r], "B:c0:m0", {f});
    const OpIndex a = add_collective(programs[r], "ALLREDUCE.data_gradient:c0:i0", GroupKind::data, 64, {b});
    add_op(programs[r], "OPT:c0:.update", {a});
  }
  return programs;
}

inline Costs costs_of(std::int64_t forward, std::int64_t backward, Link link) {
  return {[=](const RankProgram&, const Op& op) -> std::int64_t {
            const OpKind kind = op.id.kind();
            return kind == OpKind::forward ? forward : kind == OpKind::backward ? backward : 0;
          },
          [link](int, int) { return link; },
          {}};
}

/// Shares sum to one, and a rank's idle stretches are in order and do not overlap.
inline void require_whole(const StepAnalysis& a) {
  CAPTURE(picture(a));
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    REQUIRE(a.ranks[r].sum() == Approx(1.0).margin(1e-9));
    std::int64_t until = a.range.begin_ns;
    for (const BubbleStretch& s : a.stretches) {
      if (s.rank != static_cast<int>(r)) continue;
      REQUIRE(s.begin_ns >= until);
      REQUIRE(s.end_ns > s.begin_ns);
      until = s.end_ns;
    }
    REQUIRE(until <= a.range.end_ns);
  }
  REQUIRE(a.average.sum() == Approx(1.0).margin(1e-9));
  REQUIRE(a.average[TimeClass::bubble] == Approx(a.bubble).margin(1e-9));
}

}  // namespace rankscope::step_cases
