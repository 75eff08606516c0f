// Lays one step of a graph out in time. The only place where times are made: simulate and emulate differ in the order
// and the costs that they bring. For this folder's own files.
//
// Costs do not depend on when an op runs, so every op's begin is the longest path to it: a lane advances as far as it
// can, then waits at exactly one op or meeting, which wakes it. Every lane stops at an op at most once per dependency,
// so the work is linear in ops and edges. Steps are laid out one after the other, each from the frontier that the one
// before left; since nothing depends on a later step this equals laying them out together.
#pragma once
#include "engine/simulate/graph.hpp"

namespace rankscope::simulation {

/// Where a step left every lane and op.
struct Frontier {
  std::vector<std::int64_t> lane_free;  ///< [lane number]
  std::vector<std::int64_t> end;        ///< [node]: of the step before; empty before the first one
};

struct StepCosts {
  std::vector<std::int64_t> op;        ///< [node]; communications ignored
  std::vector<std::int64_t> transfer;  ///< [meeting]
};

class Layout {
 public:
  /// `graph` must outlive it.
  explicit Layout(const Graph& graph);
  /// Appends the step's spans to `spans`, by rank and begin, and returns the last end. `lanes` holds each lane's ops in
  /// the order in which they run. Throws std::runtime_error when it deadlocks.
  std::int64_t lay_out(std::uint32_t step, const Rows& lanes, const StepCosts& costs, std::vector<Span>& spans);

 private:
  struct LaneState {
    std::uint32_t next = 0;        ///< into its row of the lanes
    std::uint32_t dependency = 0;  ///< of the next op's, the one to look at next
    LaneNumber waiter = nobody;    ///< the next lane that waits for the same op
    bool arrived = false;          ///< stands in a meeting
    std::int64_t ready = 0;        ///< earliest begin of the next op, as far as is known
  };
  struct MeetingState {
    std::uint32_t arrived = 0;
    std::int64_t latest = 0;
  };

  void advance(LaneNumber lane);
  void finish(LaneNumber lane, Node node, std::int64_t active, std::int64_t end);
  void write(std::uint32_t step, std::vector<Span>& spans) const;
  [[noreturn]] void report_deadlock(std::uint32_t step) const;

  const Graph& graph_;
  Frontier frontier_;
  const Rows* lanes_ = nullptr;
  const StepCosts* costs_ = nullptr;
  std::vector<LaneState> states_;
  std::vector<MeetingState> meetings_;
  std::vector<std::int64_t> begin_, active_, end_;  ///< [node]; end -1 until it has finished
  std::vector<LaneNumber> waiters_;                 ///< [node]: first lane that waits for it
  std::vector<LaneNumber> work_;
};

}  // namespace rankscope::simulation
