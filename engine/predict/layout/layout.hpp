// Computes when the ops of a graph's steps run. No other code computes times: simulate and emulate differ in
// the order and the costs that they pass. For this folder's own files.
//
// Costs do not depend on when an op runs, so every op's begin is the longest path to it: a lane advances as far as it
// can, then waits at exactly one op or exchange, which wakes it. Every lane stops at an op at most once per dependency,
// so the work is linear in ops and edges. Nothing depends on a later step, so a step can be laid out as soon as it is
// added.
//
// Asynchronous parameter servers (RankProgram::arrivals_ahead) are an exception: the worker that they serve next, and
// its step, are not in any program. They are either given (the executed order of a run), or the first arrival in the
// layout itself: when no lane can continue, the contribution that can begin first is next, since any later one depends
// on it or on another that begins later. Steps then overlap, and all steps that may overlap must have been added.
#pragma once
#include <optional>
#include <vector>

#include "engine/predict/layout/graph.hpp"

namespace rankscope::simulation {

struct StepCosts {
  std::vector<std::int64_t> op;        ///< [node]; communications ignored
  std::vector<std::int64_t> transfer;  ///< [exchange]
};

class Layout {
 public:
  /// `graph` must outlive it.
  explicit Layout(const Graph& graph);

  /// A server of the graph serves contributions in order of arrival.
  bool has_arrivals() const { return !servers_.empty(); }

  /// Adds the next step. `lanes` has each lane's ops in the order in which they run. `arrivals` has the order of
  /// contributions, or is empty: [rank], for each contribution on the rank's server lane the number of any step
  /// served before it. Either all steps have it, or none.
  void add(std::uint32_t step, Rows lanes, StepCosts costs, std::vector<std::vector<std::uint64_t>> arrivals = {});

  /// Lays out the steps that were added, and appends the spans of complete ones, by step, rank and begin. Returns the
  /// last end of these, or of earlier ones. Throws std::runtime_error if it deadlocks.
  std::int64_t run(std::vector<Span>& spans);

 private:
  struct LaneState {
    std::uint32_t next_row = 0;    ///< the step whose row begins next; unused for servers
    std::uint32_t step = 0;        ///< whose row is in progress
    std::uint32_t next = 0;        ///< position in that row
    std::uint32_t last = 0;        ///< end of the row, or of the contribution that a server serves
    std::uint32_t dependency =
        0;  ///< the next op's dependency to check next: those in this step, then those in the step before
    LaneNumber waiter = nobody;    ///< the next lane that waits for the same op
    bool waits = false;            ///< is in an op's list of waiters
    bool arrived = false;          ///< has arrived at a communication
    std::int64_t ready = 0;        ///< earliest begin of the next op, as far as known
  };
  struct ExchangeState {
    std::uint32_t arrived = 0;
    std::int64_t latest = 0;
  };
  /// A row of ops of one worker on a server's lane.
  struct Contribution {
    std::uint32_t begin = 0, end = 0;  ///< positions in the lane's row
    std::optional<std::uint64_t> order;
  };
  struct Step {
    std::uint32_t number = 0;
    Rows lanes;
    StepCosts costs;
    std::vector<ExchangeState> exchanges;
    std::vector<std::int64_t> begin, active, end;          ///< [node]; end -1 until it has finished
    std::vector<LaneNumber> waiters;                       ///< [node]: first lane that waits for it
    std::vector<std::vector<Contribution>> contributions;  ///< [server][worker]
    std::size_t unfinished = 0;                            ///< nodes
  };
  struct Server {
    LaneNumber lane = 0;
    std::uint32_t ahead = 0;
    std::vector<std::uint32_t> next_step;  ///< [worker]: of its next contribution
    std::uint64_t served = 0;
  };
  struct Choice {
    std::size_t server = 0, worker = 0;
    std::int64_t begin = 0, arrived = 0;
    bool operator<(const Choice& other) const;
  };

  std::uint32_t added() const { return first_open_ + static_cast<std::uint32_t>(open_.size()); }
  Step& step(std::uint32_t index) { return open_[index - first_open_]; }
  const Step& step(std::uint32_t index) const { return open_[index - first_open_]; }
  void drain();
  void advance(LaneNumber lane);
  bool begin_row(LaneNumber lane);
  bool is_over(Step& step, Node before, LaneNumber lane);
  bool arrives_last(LaneNumber lane, Node node);
  void finish(LaneNumber lane, Node node, std::int64_t active, std::int64_t end);
  bool is_idle(const Server& server) const;
  std::optional<std::size_t> brought_next(std::size_t server) const;
  std::optional<Choice> first_arrival(std::size_t server) const;
  bool serve_next();
  void serve(std::size_t server, std::size_t worker);
  bool waits_for_order() const;
  void write(const Step& step, std::vector<Span>& spans) const;
  bool is_stuck(LaneNumber lane) const;
  Node current_node(LaneNumber lane) const;
  Node waits_for(LaneNumber lane) const;
  [[noreturn]] void report_deadlock() const;

  const Graph& graph_;
  std::vector<Step> open_;  ///< added and incomplete
  std::uint32_t first_open_ = 0;
  std::vector<std::int64_t> end_before_;  ///< [node]: of the step before the first open one; empty before the first
  std::int64_t last_end_ = 0;
  std::vector<LaneState> states_;
  std::vector<Server> servers_;
  std::vector<std::uint32_t> server_of_lane_;  ///< `nobody` for other lanes
  bool is_order_brought_ = false;
  std::vector<LaneNumber> work_;
};

}  // namespace rankscope::simulation
