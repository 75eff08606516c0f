// A pipeline puzzle: boxes of forwards and backwards are put in order for each stage, one by one, while a stage may
// keep the activations of only a few micro-batches. Every move is checked, so that every board can run. Times are those
// of textbooks: a forward needs 1 unit, a backward 2 (each of its halves 1), a message none.
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
  /// The number of micro-batches whose activations a stage may keep at a time, each from its forward to its backward
  /// (to its weight gradient if that is a box); 0: any number.
  int kept = 0;
  bool operator==(const PuzzleRules&) const = default;
};

/// Why boxes cannot be placed in this way.
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

  /// Throws std::invalid_argument, with the range, if a rule is out of range.
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

  /// Checks the box at that position of that stage's row (from 0; beyond the end: at the end), moved there if it is on
  /// the board already. nullopt: it can be placed there.
  std::optional<PuzzleFault> fault_of(OpId box, int stage, int position) const;
  /// Places it there; false, without a change, if that is a fault.
  bool place(OpId box, int stage, int position);
  /// At the end of its own stage's row.
  bool append(OpId box);
  /// Removes it from the board, with every box that depends on it. False: it is not on the board.
  bool take_back(OpId box);
  void clear();
  /// A complete order at once. False, without a change, unless it has exactly these boxes and violates no rule.
  bool fill(const ChunkSchedule& schedule);
  /// Restores the board before the last change; false: there was none.
  bool undo();

  /// When each box on the board begins, in units.
  UnitLayout layout() const;
  /// Of the current board: idle time of the stages as a share of (end × stages). 0 for an empty board.
  double bubble() const;
  /// The number of micro-batches that a stage keeps after each box of its row.
  std::vector<int> kept_after(int stage) const;
  /// The board in the form of plan.order, in one line.
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

/// The length of a known schedule under the same rules.
struct PuzzlePar {
  Choice<ScheduleKind> schedule = ScheduleKind::naive;
  std::int64_t units = 0;
};
/// All known schedules that keep no more than the rules allow, the shortest first. If backwards are in halves,
/// schedules with complete backwards are included with each half directly after the other.
std::vector<PuzzlePar> known_solutions(const PuzzleRules& rules);
/// One of them, with the boxes of the rules. Throws std::invalid_argument if it splits backwards and the rules do not.
ChunkSchedule known_solution(ScheduleKind schedule, const PuzzleRules& rules);

/// A lower bound in units: no order is shorter; for some rules no order is as short. Stage s begins after s forwards.
/// If it keeps k micro-batches at a time, micro-batch j cannot begin before micro-batch j - k has been at the last
/// stage and back. In the last turn, the micro-batches pass the last stage one after the other; and after the last
/// gradient of stage s the s stages before it work. With halves, a stage also needs at least 3 units for each
/// micro-batch.
std::int64_t least_units(const PuzzleRules& rules);

}  // namespace rankscope
