// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/puzzle/puzzle_words.hpp"

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

using text::tr;

QString percent(double share) { return QString::number(100 * share, 'f', 1); }

QString letter_of(OpKind kind) {
  switch (kind) {
    case OpKind::forward: return QStringLiteral("F");
    case OpKind::input_gradient: return QStringLiteral("I");
    case OpKind::weight_gradient: return QStringLiteral("W");
    default: return QStringLiteral("B");
  }
}

/// The reason why a box cannot be placed: its input from the missing box.
QString missing_words(OpId box, OpId needs) {
  if (needs.kind() == OpKind::forward && box.kind() == OpKind::forward)
    return tr("%1 needs the activations of %2, which is not placed yet.").arg(box_words(box), box_words(needs));
  if (needs.kind() == OpKind::forward)
    return tr("%1 needs the activations that %2 keeps, which is not placed yet.").arg(box_words(box), box_words(needs));
  if (box.kind() == OpKind::weight_gradient)
    return tr("%1 is the second half: %2 comes before it.").arg(box_words(box), box_words(needs));
  return tr("%1 needs the gradient of %2, which is not placed yet.").arg(box_words(box), box_words(needs));
}

}  // namespace

QString kept_words(int micro_batches) {
  return micro_batches == 1 ? tr("1 micro-batch") : tr("%1 micro-batches").arg(micro_batches);
}

QString box_name(OpId box) { return letter_of(box.kind()) + QString::number(box.fields().micro_batch); }

QString box_words(OpId box) { return tr("%1 of stage %2").arg(box_name(box)).arg(Puzzle::stage_of(box)); }

QString fault_words(const PuzzleFault& fault, const PuzzleRules& rules) {
  switch (fault.kind) {
    case PuzzleFault::Kind::other_stage:
      return tr("%1 runs on stage %2 only: its weights are there.")
          .arg(box_name(fault.box))
          .arg(Puzzle::stage_of(fault.box));
    case PuzzleFault::Kind::missing: return missing_words(fault.box, fault.needs);
    case PuzzleFault::Kind::memory:
      return tr("With %1 there, stage %2 would keep more than %3. A %4 frees one.")
          .arg(box_name(fault.box))
          .arg(Puzzle::stage_of(fault.box))
          .arg(kept_words(rules.kept))
          .arg(rules.halves ? QStringLiteral("W") : QStringLiteral("B"));
    case PuzzleFault::Kind::circle:
      return tr("Deadlock: %1 would wait for %2, and that for %1.").arg(box_words(fault.box), box_words(fault.needs));
  }
  return {};
}

QString board_words(const Puzzle& puzzle, const std::vector<PuzzlePar>& known) {
  const std::int64_t end = puzzle.layout().end;
  if (puzzle.placed_count() == 0)
    return tr("Click a box to put it at the end of its row, or drag it to its place. Coloured boxes are ready.");
  if (!puzzle.complete())
    return tr("%1 of %2 boxes; length so far: %3.").arg(puzzle.placed_count()).arg(puzzle.box_count()).arg(end);
  QString words = tr("Complete: %1 units, bubble %2 % of (step × stages).").arg(end).arg(percent(puzzle.bubble()));
  if (end == least_units(puzzle.rules())) return words + QLatin1Char(' ') + tr("No order is shorter.");
  if (known.empty()) return words;
  const std::int64_t more = end - known.front().units;
  return words + QLatin1Char(' ') +
         (more > 0    ? tr("%1 units more than par.").arg(more)
          : more == 0 ? tr("That is par.")
                      : tr("%1 units less than par.").arg(-more));
}

QString par_words(const PuzzleRules& rules, const std::vector<PuzzlePar>& known) {
  const QString least = tr("No order takes less than %1 units.").arg(least_units(rules));
  if (known.empty()) return tr("No known schedule keeps so few.") + QLatin1Char(' ') + least;
  return tr("Par is %1 units, by %2.").arg(known.front().units).arg(text::utf8(known.front().schedule.name())) +
         QLatin1Char(' ') + least;
}

ViewTable table_of(const Puzzle& puzzle) {
  ViewTable table{{tr("stage"), tr("box"), tr("begin, units"), tr("end, units"), tr("micro-batches kept after it")},
                  {}};
  const UnitLayout layout = puzzle.layout();
  for (int stage = 0; stage < puzzle.rules().stages; ++stage) {
    const auto s = static_cast<std::size_t>(stage);
    const std::vector<int> kept = puzzle.kept_after(stage);
    for (std::size_t i = 0; i < puzzle.rows()[s].size(); ++i) {
      const OpId box = puzzle.rows()[s][i];
      const std::int64_t begin = layout.begin[s][i];
      table.rows.push_back({QString::number(stage), box_name(box), plain(begin), plain(begin + units_of(box.kind())),
                            QString::number(kept[i])});
    }
  }
  return table;
}

}  // namespace rankscope::app
