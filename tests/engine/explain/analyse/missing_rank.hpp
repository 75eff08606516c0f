// The reports of a run in which one rank does not arrive.
#pragma once
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "engine/plan/program/program.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// The spans that a run reports whose rank `gone` never ends the op `stops` of step `step`: the simulated spans without
/// that op, without the later ops on its lane, and without all ops that cannot begin or end without these.
inline std::vector<Span> reported_spans(const std::vector<RankProgram>& programs, const RankGrid& grid,
                                        const std::vector<Span>& spans, int gone, OpId stops, std::uint32_t step) {
  using Key = std::tuple<int, std::uint32_t, OpId>;
  std::set<Key> lost{{gone, step, stops}};
  for (bool more = true; more;) {
    more = false;
    std::map<std::pair<int, Lane>, bool> lane_lost;
    for (const Span& span : spans) {  // ordered by step, rank and begin, so each lane is in order
      const RankProgram& program = programs[static_cast<std::size_t>(span.rank)];
      const Op* op = nullptr;
      for (const Op& candidate : program.ops)
        if (candidate.id == span.op) op = &candidate;
      if (op == nullptr) throw std::logic_error("a span of no op: " + to_token(span.op));
      bool cannot = lane_lost[{span.rank, span.op.lane()}] || lost.count({span.rank, span.step, span.op}) > 0;
      for (const OpIndex before : op->after) cannot |= lost.count({span.rank, span.step, program.ops[before].id}) > 0;
      if (span.step > 0)
        for (const OpIndex before : op->after_previous)
          cannot |= lost.count({span.rank, span.step - 1, program.ops[before].id}) > 0;
      if (is_collective(op->id.kind()))
        for (const int member : grid.group_of(span.rank, op->group))
          cannot |= lost.count({member, span.step, op->id}) > 0;
      else if (is_communication(op->id.kind()))
        cannot |= lost.count({op->peer, span.step, counterpart(op->id)}) > 0;
      if (!cannot) continue;
      lane_lost[{span.rank, span.op.lane()}] = true;
      more |= lost.insert({span.rank, span.step, span.op}).second;
    }
  }
  std::vector<Span> result;
  for (const Span& span : spans)
    if (lost.count({span.rank, span.step, span.op}) == 0) result.push_back(span);
  return result;
}

}  // namespace rankscope
