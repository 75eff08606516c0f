// The programs of a plan as one linked step.
#pragma once
#include <string>
#include <vector>

#include "engine/plan/program/program.hpp"
#include "engine/step/step.hpp"

namespace rankscope {

/// An op whose partner is missing, or disagrees with it: it has no exchange.
struct Unlinked {
  Node node = 0;
  std::string why;  ///< "no RECV.pipeline_forward:c1:m0 in rank 1's program"
};

/// Joins sends with receives by (rank, peer, counterpart id), and collectives by group and id. `programs[r]` is rank
/// r's. Throws std::invalid_argument if their number is not the grid's, or an edge leads to no op.
Step link(const std::vector<RankProgram>& programs, const RankGrid& grid, std::vector<Unlinked>* unlinked = nullptr);

}  // namespace rankscope
