// A pipeline puzzle: boxes of forwards and backwards are put into an order for each stage, one by one, while a stage
// may keep the activations of a few micro-batches only. Every move is checked, so that whatever lies on the board can
// run. Time is the textbook's: a forward takes 1 unit, a backward 2 (each of its halves 1), a message nothing.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/schedule/unit_layout.hpp"

namespace rankscope {

inline constexpr int least_puzzle_stages = 2, most_puzzle_stages = 6, most_puzzle_micro_batches = 8;

struct PuzzleRules {
  int stages = 3, micro_batches = 4;  ///< a chunk on each stage
  bool halves = false;                ///< boxes F, I and W instead of F and B
  /// How many micro-batches' activations a stage may keep at a time, each from its forward to its backward (to its
  /// weight gradient where that is a box); 0: any number.
  int kept = 0;
  bool operator==(const PuzzleRules&) const = default;
};

/// Why the boxes cannot lie so.
struct PuzzleFault {
  enum class Kind : std::uint8_t {
    other_stage,  ///< `box` belongs to another stage's row
    missing,      ///< `box` needs `needs`, which is not on the board
    memory,       ///< with `box` its stage would keep more micro-batches than it may
    circle,       ///< `box` waits for `needs`, which waits for `box`
  };
  Kind kind = Kind::missing;
  OpId box, needs;
  bool operator==(const PuzzleFault&) const = default;
};

class Puzzle {
 public:
  using Rows = std::vector<std::vector<OpId>>;  ///< [stage][position]

  /// Throws std::invalid_argument, with the range, where a rule is out of it.
  explicit Puzzle(PuzzleRules rules);

  const PuzzleRules& rules() const { return rules_; }
  const Rows& rows() const { return rows_; }
  /// All boxes of a stage, placed or not: F0 F1 … B0 B1 …
  std::vector<OpId> boxes(int stage) const;
  static int stage_of(OpId box) { return box.fields().chunk; }
  bool placed(OpId box) const;
  int placed_count() const;
  int box_count() const;
  bool complete() const { return placed_count() == box_count(); }

  /// The box at that position of that stage's row (from 0; beyond the end: at the end), moved there if it is on the
  /// board already. nullopt: it can lie there.
  std::optional<PuzzleFault> fault_of(OpId box, int stage, int position) const;
  /// Puts it there; false, and nothing changes, where that is a fault.
  bool place(OpId box, int stage, int position);
  /// At the end of its own stage's row.
  bool append(OpId box);
  /// Takes it off the board, with every box that cannot stay without it. False: it is not there.
  bool take_back(OpId box);
  void clear();
  /// A whole order at once. False, and nothing changes, unless it has these boxes and breaks no rule.
  bool fill(const ChunkSchedule& schedule);
  /// The board as it was before the last change; false: there was none.
  bool undo();

  /// When each box on the board begins, in units.
  UnitLayout layout() const;
  /// Of the board as it is: idle time of the stages as a share of (end × stages). 0 for an empty board.
  double bubble() const;
  /// How many micro-batches a stage keeps after each box of its row.
  std::vector<int> kept_after(int stage) const;
  /// The board as plan.order takes it, in one line.
  std::string order_text() const;

 private:
  std::optional<PuzzleFault> fault_in(const Rows& rows) const;
  /// The rows with that box there and nowhere else.
  Rows with(OpId box, int stage, int position) const;
  ChunkSchedule schedule_of(const Rows& rows) const;
  void change_to(Rows rows);

  PuzzleRules rules_;
  Rows rows_;
  std::vector<Rows> history_;
};

/// What a known schedule takes under the same rules.
struct PuzzlePar {
  Choice<ScheduleKind> schedule = ScheduleKind::naive;
  std::int64_t units = 0;
};
/// All known schedules that keep no more than the rules allow, the shortest first. Where backwards are in halves, those
/// with whole ones take part with each half directly behind the other.
std::vector<PuzzlePar> known_solutions(const PuzzleRules& rules);
/// One of them, with the boxes of the rules. Throws std::invalid_argument for split backwards where they are whole.
ChunkSchedule known_solution(ScheduleKind schedule, const PuzzleRules& rules);

/// A bound: no order is shorter, in units; some rules have none that is as short. Stage s begins after s forwards.
/// Where it keeps k micro-batches at a time, the one with index j cannot begin before the one with index j - k has been
/// to the last stage and back. Of the last turn, each passes the last stage after the other; and after the last
/// gradient of stage s the s stages before it work. With halves, a stage also works 3 units for each micro-batch
/// without a gap at best.
std::int64_t least_units(const PuzzleRules& rules);

}  // namespace rankscope
