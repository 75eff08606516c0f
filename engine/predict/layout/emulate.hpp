// The device clock: times as if each rank had its own device and links.
//
// The run was really executed, perhaps as eight ranks on two cores. Each lane's ops are laid out again in executed
// order, with the measured cost of every op and modelled links, by the same code that simulates.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "engine/predict/layout/simulate.hpp"

namespace rankscope {

/// The record of one executed step.
struct ExecutedStep {
  std::uint32_t step = 0;
  /// [rank][lane]: indices into the rank's ops, in the order in which they ran; every op once.
  std::vector<std::array<std::vector<OpIndex>, lane_count>> order;
  /// [rank][op]: nanoseconds; communications are ignored.
  std::vector<std::vector<std::int64_t>> cost_ns;
  /// [rank]: for each contribution that an asynchronous server had, in this step's order of its lane, how many of any
  /// step served before it. Empty without such a server.
  std::vector<std::vector<std::uint64_t>> arrivals{};
};

/// Lays out executed steps one after the other as they arrive; a step is not a barrier. Asynchronous servers may serve
/// a contribution of a later step first; then a step is laid out when that later step has arrived.
class Emulator {
 public:
  /// Of `costs` only link and collective_ns are used. Throws std::invalid_argument as simulate does.
  Emulator(std::vector<RankProgram> programs, const RankGrid& grid, const Costs& costs);
  ~Emulator();
  Emulator(Emulator&&) noexcept;
  Emulator& operator=(Emulator&&) noexcept;
  /// The spans of all steps that are complete now. Throws std::invalid_argument if the order is not one of the
  /// program's ops, std::runtime_error if it deadlocks.
  Simulation lay_out(const ExecutedStep& step);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
