// SPDX-License-Identifier: GPL-3.0-or-later
// Finds an op, a rank or a tensor by name in the programs of a run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/models/run_plan.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope {

struct Found {
  enum class Kind : std::uint8_t { rank, op, tensor };
  Kind kind = Kind::rank;
  std::int32_t rank = 0;
  OpId op;                 ///< the op itself; of a tensor the first op of a step that uses it, invalid if none does
  std::string title;       ///< "B:c2:m3 · rank 2", "rank 2", "h.3.mlp.c_fc.weight · rank 2"
  std::string detail;      ///< "backward"; "stage 2"; of a tensor its memory class, "parameters"
  std::int64_t bytes = 0;  ///< of a tensor
};

struct Findings {
  std::vector<Found> found;  ///< ranks, then ops, then tensors, rank by rank in the program's order
  bool complete = true;      ///< false: there are more, or more ops than are searched
};

/// The program of a rank; null where it is not known.
using ProgramOf = std::function<std::shared_ptr<const RankProgram>(std::int32_t rank)>;

/// True when every word of `query` occurs in `text`, in any order; case does not matter.
bool has_words(std::string_view text, std::string_view query);

/// Entries with all words of `query` in title or detail, at most `most` of each kind. A query without a word finds
/// nothing. At most about 300,000 ops and buffers are searched, so that an answer takes well under a second.
Findings find_in(const ProgramOf& program_of, const RunPlan& plan, std::string_view query, std::size_t most);

}  // namespace rankscope
