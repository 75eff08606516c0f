// Discrete-event simulation of step programs: the other consumer of a program beside the engine.
//
// Ops of a lane run in order, each after its dependencies; a send and its receive wait for each other (rendezvous) and
// occupy both lanes until the bytes have moved; a collective starts when its last member has arrived. The same code
// draws the textbook picture (unit costs), predicts (modelled costs) and lays out an emulated run (measured costs,
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

/// How many steps a prediction simulates, so that the one in the middle is steady: the second of three, since steps
/// overlap (a rank begins the next one while others end this one); with asynchronous servers as many before it as
/// workers can be apart plus their turns, and as many after it.
int predicted_steps(const std::vector<RankProgram>& programs);
/// Of a prediction's steps, counted from 0, the one to analyse: it has a predecessor and a successor.
constexpr std::size_t steady_step(std::size_t steps) { return steps / 2; }

/// Runs `steps` steps back to back (a step is not a barrier). `programs[r]` is rank r's. Throws std::runtime_error with
/// the waiting ranks when the programs deadlock, and std::invalid_argument when an op has no counterpart or the two
/// ends of a message differ in size.
Simulation simulate(const std::vector<RankProgram>& programs, const RankGrid& grid, const Costs& costs, int steps = 1);

}  // namespace rankscope
