// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of a session: the stage of each rank, and the ranks that it exchanges messages with.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/mesh/rank_grid.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

struct RunPlan {
  Scenario scenario;
  RankGrid grid;
  /// Ranks that each of the session's stands for: of a folded prediction there is one of each stage, and then scenario
  /// and grid are of these alone.
  std::int32_t identical_ranks = 1;
  /// Of a folded prediction the stage that has the slow rank (fault.slow_rank), and that rank; -1 without.
  std::int32_t slow_stage = -1, slow_rank = -1;
};

/// The plan in the session's hello; null where none came, or where it can't be read by this version.
std::shared_ptr<const RunPlan> plan_of(const StoreView& view);

/// A rank's place as a label's second line: "stage 2", "stage 2 · data 1"; empty for a rank of data parallelism alone.
std::string place_of(const RunPlan& plan, std::int32_t rank);

/// Of a folded prediction whom a rank stands for: "256 identical ranks"; of the stage with the slow rank
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
/// of a collective one link from each member to the next. `plan` may be null: then all ranks are looked through.
std::vector<MessageLink> links_of(const StoreView& view, const RunPlan* plan, Obtained obtained, const Span& span);

/// The spans of that send's or receive's other end, if it is here.
std::optional<Span> other_end(const StoreView& view, const RunPlan* plan, Obtained obtained, const Span& span);

}  // namespace rankscope
