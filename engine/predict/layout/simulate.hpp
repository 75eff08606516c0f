// Discrete-event simulation of step programs: the second consumer of a program, after the engine.
//
// Ops of a lane run in order, each after its dependencies; a send and its receive wait for each other (rendezvous) and
// occupy both lanes until the bytes have moved; a collective starts when its last member has arrived. The same code
// computes the textbook diagram (unit costs), predicts (modelled costs) and lays out an emulated run (measured costs,
// executed order).
#pragma once
#include <cstdint>
#include <vector>

#include "engine/plan/program/program.hpp"
#include "engine/predict/cost/costs.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

struct Simulation {
  std::vector<Span> spans;  ///< of all ranks, by step, rank and begin; active_ns splits waiting from transfer
  std::int64_t end_ns = 0;
};

/// How many steps a prediction simulates, so that the middle one is in steady state: the second of three, since steps
/// overlap (a rank begins the next one while others end this one); with asynchronous servers, the number before it is
/// the greatest distance between workers plus their turns, and the same number after it.
int predicted_steps(const std::vector<RankProgram>& programs);
/// Of a prediction's steps, counted from 0, the one to analyse: it has a predecessor and a successor.
constexpr std::size_t steady_step(std::size_t steps) { return steps / 2; }

/// Runs `steps` consecutive steps (a step is not a barrier). `programs[r]` is rank r's. Throws std::runtime_error with
/// the waiting ranks if the programs deadlock, and std::invalid_argument if an op has no counterpart or the two
/// ends of a message differ in size.
Simulation simulate(const std::vector<RankProgram>& programs, const RankGrid& grid, const Costs& costs, int steps = 1);

}  // namespace rankscope
