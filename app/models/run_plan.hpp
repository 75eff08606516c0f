// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of a session: the stage of each rank; and what an op's partners did.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/mesh/rank_grid.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "engine/step/step.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

struct RunPlan {
  Scenario scenario;
  RankGrid grid;
  /// How many ranks each of the session's ranks represents: a folded prediction has one per stage, and its scenario
  /// and grid are of these ranks only.
  std::int32_t identical_ranks = 1;
  /// Of a folded prediction the stage that has the slow rank (fault.slow_rank), and that rank; -1 if there is none.
  std::int32_t slow_stage = -1, slow_rank = -1;
};

/// The plan in the session's hello; null if no hello arrived, or if this version cannot read it.
std::shared_ptr<const RunPlan> plan_of(const StoreView& view);

/// A rank's place as a label's second line: "stage 2", "stage 2 · data 1"; empty with data parallelism only.
std::string place_of(const RunPlan& plan, std::int32_t rank);

/// Of a folded prediction which ranks a rank represents: "256 identical ranks"; in the stage with the slow rank
/// "rank 517 is slow; 255 others wait".
std::string folded_words(const RunPlan& plan, std::int32_t rank);

/// A message or a collective as pieces of time on several ranks.
struct MessageEnd {
  std::int32_t rank = 0;
  Span span;
};
struct MessageLink {
  MessageEnd from, to;
};

/// What the selected op exchanged: of a send or receive its message; of a model op the messages it waited for and sent;
/// of a collective one link from each member to the next. `linked` is the span's step; null while it is not known: then
/// all ranks are searched.
std::vector<MessageLink> links_of(const StoreView& view, const Step* linked, Obtained obtained, const Span& span);

/// The span of that send's or receive's other end, if the store has it.
std::optional<Span> other_end(const StoreView& view, const Step* linked, Obtained obtained, const Span& span);

}  // namespace rankscope
