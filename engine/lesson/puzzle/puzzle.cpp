#include "engine/lesson/puzzle/puzzle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "engine/op/contains.hpp"
#include "engine/plan/schedule/builder.hpp"

namespace rankscope {
namespace {

using enum OpKind;

void check_range(const char* name, int value, int least, int most) {
  if (value < least || value > most)
    throw std::invalid_argument(fmt::format("{} = {}; a puzzle takes {} to {}", name, value, least, most));
}

/// The kind that sends the gradient to the previous stage, and the one that frees the activations.
OpKind gradient_kind(const PuzzleRules& rules) { return rules.halves ? input_gradient : backward; }
OpKind freeing_kind(const PuzzleRules& rules) { return rules.halves ? weight_gradient : backward; }

/// The boxes that must have run before the box.
std::vector<OpId> needed_boxes(OpId box, const PuzzleRules& rules) {
  std::vector<OpId> boxes;
  const NeededPasses needs = needs_of(box.fields(), rules.stages);
  for (const NeededPass& need : needs.list())
    boxes.push_back(chunk_op(need.is_forward ? forward : gradient_kind(rules), need.chunk, need.micro_batch));
  return boxes;
}

/// The boxes that run if every stage runs its row in order and waits for the boxes that each box needs.
std::set<OpId> reached(const Puzzle::Rows& rows, const PuzzleRules& rules) {
  std::set<OpId> done;
  std::vector<std::size_t> next(rows.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < rows.size(); ++s)
      for (; next[s] < rows[s].size(); ++next[s], moved = true) {
        const auto needs = needed_boxes(rows[s][next[s]], rules);
        if (!std::all_of(needs.begin(), needs.end(), [&](OpId need) { return done.count(need) > 0; })) break;
        done.insert(rows[s][next[s]]);
      }
  }
  return done;
}

void erase_box(Puzzle::Rows& rows, OpId box) {
  for (auto& row : rows) std::erase(row, box);
}

}  // namespace

Puzzle::Puzzle(PuzzleRules rules) : rules_(rules), rows_(static_cast<std::size_t>(std::max(rules.stages, 0))) {
  check_range("stages", rules.stages, least_puzzle_stages, most_puzzle_stages);
  check_range("micro_batches", rules.micro_batches, 1, most_puzzle_micro_batches);
  check_range("kept", rules.kept, 0, most_puzzle_micro_batches);
}

std::vector<OpId> Puzzle::boxes(int stage) const {
  std::vector<OpId> all;
  for (const OpKind kind : {forward, gradient_kind(rules_), freeing_kind(rules_)})
    for (int m = 0; m < rules_.micro_batches; ++m)
      if (const OpId box = chunk_op(kind, stage, m); !contains(all, box)) all.push_back(box);
  return all;
}

bool Puzzle::placed(OpId box) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return contains(row, box); });
}

int Puzzle::placed_count() const {
  std::size_t count = 0;
  for (const auto& row : rows_) count += row.size();
  return static_cast<int>(count);
}

int Puzzle::box_count() const { return rules_.stages * rules_.micro_batches * (rules_.halves ? 3 : 2); }

std::optional<PuzzleFault> Puzzle::fault_in(const Rows& rows) const {
  using Kind = PuzzleFault::Kind;
  std::set<OpId> there;
  for (const auto& row : rows) there.insert(row.begin(), row.end());
  for (const auto& row : rows)
    for (const OpId box : row)
      for (const OpId need : needed_boxes(box, rules_))
        if (there.count(need) == 0) return PuzzleFault{Kind::missing, box, need};
  const std::set<OpId> done = reached(rows, rules_);
  for (const auto& row : rows)
    for (const OpId box : row)
      if (done.count(box) == 0) {
        const auto needs = needed_boxes(box, rules_);
        const auto late = std::find_if(needs.begin(), needs.end(), [&](OpId need) { return done.count(need) == 0; });
        return PuzzleFault{Kind::circle, box, late == needs.end() ? box : *late};
      }
  for (const auto& row : rows) {
    int kept = 0;
    for (const OpId box : row) {
      kept += box.kind() == forward ? 1 : box.kind() == freeing_kind(rules_) ? -1 : 0;
      if (rules_.kept > 0 && kept > rules_.kept) return PuzzleFault{Kind::memory, box, {}};
    }
  }
  return std::nullopt;
}

Puzzle::Rows Puzzle::with(OpId box, int stage, int position) const {
  Rows rows = rows_;
  auto& row = rows[stage];
  auto at = static_cast<std::size_t>(std::clamp(position, 0, static_cast<int>(row.size())));
  const auto old = std::find(row.begin(), row.end(), box);
  if (old != row.end() && old - row.begin() < static_cast<std::ptrdiff_t>(at)) --at;
  erase_box(rows, box);
  row.insert(row.begin() + at, box);
  return rows;
}

std::optional<PuzzleFault> Puzzle::fault_of(OpId box, int stage, int position) const {
  if (stage != stage_of(box)) return PuzzleFault{PuzzleFault::Kind::other_stage, box, {}};
  for (const OpId need : needed_boxes(box, rules_))
    if (!placed(need)) return PuzzleFault{PuzzleFault::Kind::missing, box, need};
  return fault_in(with(box, stage, position));
}

void Puzzle::change_to(Rows rows) {
  if (rows == rows_) return;
  history_.push_back(std::move(rows_));
  rows_ = std::move(rows);
}

bool Puzzle::place(OpId box, int stage, int position) {
  if (fault_of(box, stage, position)) return false;
  change_to(with(box, stage, position));
  return true;
}

bool Puzzle::append(OpId box) { return place(box, stage_of(box), box_count()); }

bool Puzzle::take_back(OpId box) {
  if (!placed(box)) return false;
  Rows rows = rows_;
  erase_box(rows, box);
  // Also removes boxes that need it, and, after a backward, the forwards that exceed the memory without it.
  for (auto fault = fault_in(rows); fault; fault = fault_in(rows)) erase_box(rows, fault->box);
  change_to(std::move(rows));
  return true;
}

void Puzzle::clear() { change_to(Rows(rows_.size())); }

bool Puzzle::fill(const ChunkSchedule& schedule) {
  if (schedule.order.size() != rows_.size()) return false;
  for (int stage = 0; stage < rules_.stages; ++stage) {
    std::vector<OpId> here = schedule.order[stage], all = boxes(stage);
    std::sort(here.begin(), here.end());
    std::sort(all.begin(), all.end());
    if (here != all) return false;
  }
  if (fault_in(schedule.order)) return false;
  change_to(schedule.order);
  return true;
}

bool Puzzle::undo() {
  if (history_.empty()) return false;
  rows_ = std::move(history_.back());
  history_.pop_back();
  return true;
}

ChunkSchedule Puzzle::schedule_of(const Rows& rows) const {
  ChunkSchedule schedule =
      empty_schedule(ScheduleKind::by_hand, {.stages = rules_.stages, .micro_batches = rules_.micro_batches});
  schedule.order = rows;
  return schedule;
}

UnitLayout Puzzle::layout() const { return lay_out(schedule_of(rows_)); }

double Puzzle::bubble() const { return ideal_bubble(schedule_of(rows_)); }

std::vector<int> Puzzle::kept_after(int stage) const {
  std::vector<int> kept;
  int now = 0;
  for (const OpId box : rows_[stage]) {
    now += box.kind() == forward ? 1 : box.kind() == freeing_kind(rules_) ? -1 : 0;
    kept.push_back(now);
  }
  return kept;
}

std::string Puzzle::order_text() const {
  std::string text = to_text(schedule_of(rows_));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ';');
  return text;
}

}  // namespace rankscope
