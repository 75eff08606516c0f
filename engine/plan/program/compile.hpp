// From a scenario to the programs of its ranks: the passes in order, built per rank on demand.
#pragma once
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "engine/plan/model/model.hpp"
#include "engine/plan/program/program.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "engine/plan/schedule/schedule.hpp"

namespace rankscope {

/// A plan that cannot run: what() is one line with the reason and an alternative.
struct PlanError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// According to the plan. Throws std::invalid_argument where make_schedule or by_hand_schedule does.
PipelineShape shape_of(const PlanSpec& plan);
ChunkSchedule schedule_of(const PlanSpec& plan);

/// The step of every rank of a scenario.
struct StepProgram {
  Scenario scenario;
  RankGrid grid;
  Model model;
  std::vector<int> first_segment;  ///< of each chunk, and the end: see split_evenly
  ChunkSchedule schedule;

  /// ZeRO's stage; 0 if the data group has one rank.
  int zero() const { return grid.data > 1 ? scenario.plan.zero : 0; }
  /// Optimizer states are in host memory, and the host updates.
  bool offloads() const { return scenario.plan.offload == Offload::optimizer; }
  /// False for replicas of a main device and workers of servers: they receive their parameters.
  bool updates(int rank) const;
  /// True where each rank updates different pieces of tensors: ZeRO's ranks, and servers.
  bool updates_pieces() const { return zero() > 0 || grid.servers > 0; }
  /// Of asynchronous servers: how many steps a worker's gradient may be ahead of the slowest worker's to be accepted at
  /// once. Bounded staleness (Ho et al. 2013, "More effective distributed ML via a stale synchronous parallel parameter
  /// server"): parameters of step k then have all updates of steps before k - plan.staleness.
  std::optional<int> arrivals_ahead() const;
  RankProgram program_for(int rank) const;
  std::vector<RankProgram> all_programs() const;
};

/// Throws PlanError for a plan that is invalid or not yet supported.
StepProgram compile(const Scenario& scenario);

}  // namespace rankscope
