// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/range/range_rows.hpp"

#include <array>
#include <cmath>
#include <span>

#include "app/models/run_plan.hpp"
#include "app/models/steps.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/facts/imported.hpp"

namespace rankscope::app {
namespace {

constexpr double least_points = 0.05;
constexpr std::size_t most_reasons = 60;

using text::tr;

std::optional<AnalysedStep> analysed(const StoreView& view, Obtained obtained, const RunContext* planned,
                                     std::uint32_t step) {
  const auto range = view.step_range(obtained, step);
  if (!range) return std::nullopt;
  AnalysedStep result;
  if (planned == nullptr) {
    auto own = imported_step(view, step_facts(view), step);
    if (!own) return std::nullopt;
    result.spans = std::move(own->spans);
    result.analysis = analyse_step(*own->linked, result.spans, *range, step);
    return result;
  }
  const RunContext& context = *planned;
  // Ops of neighbouring steps that overlap this step are part of its time.
  result.spans = spans_around(view, context, obtained, step);
  result.analysis = analyse_step(*context.linked, result.spans, *range, step, context.planned());
  return result;
}

/// The textbook's last step.
std::optional<AnalysedStep> ideal_of(const RunContext& context) {
  if (context.ideal.spans.empty()) return std::nullopt;
  AnalysedStep result;
  result.analysis = analyse_simulation(*context.linked, context.planned(), context.ideal);
  result.spans = context.ideal.spans;
  return result;
}

/// Sums over these ranks: seconds and length of all together.
RangeTime sum_of(std::span<const RangeRow> rows, const RangeTime* (*pick)(const RangeRow&)) {
  RangeTime sum;
  std::int64_t length = 0;
  for (const RangeRow& row : rows)
    if (const RangeTime* time = pick(row)) {
      length += time->range.length();
      sum.unknown += time->unknown;
      for (std::size_t c = 0; c < time_class_count; ++c) sum.seconds[c] += time->seconds[c];
    }
  sum.range = {0, length};
  return sum;
}

class Rows {
 public:
  Rows(const RangeAnalysis& analysis, const RunContext* context, Obtained shown) : analysis_(analysis), shown_(shown) {
    RunPlan plan;  // of an imported run without places
    if (context != nullptr) plan = {context->step.scenario, context->step.grid};
    for (const RangeRow& row : analysis.ranks) {
      names_.push_back(text::rank_name(plan, row.rank));
      for (const RangeTime* time : {&row.measured, row.predicted ? &*row.predicted : nullptr})
        for (int c = 0; time != nullptr && c < time_class_count; ++c)
          there_[static_cast<std::size_t>(c)] |= time->seconds[static_cast<std::size_t>(c)] > 0;
    }
  }
  QStringList titles() const {
    QStringList titles{tr("rank"), QString(), tr("length")};
    for (int c = 0; c < time_class_count; ++c)
      if (there_[static_cast<std::size_t>(c)]) titles << text::utf8(name_of(static_cast<TimeClass>(c)));
    return titles;
  }
  std::vector<std::vector<Cell>> rows() const {
    std::vector<std::vector<Cell>> rows;
    const auto measured = [](const RangeRow& row) -> const RangeTime* { return &row.measured; };
    const auto predicted = [](const RangeRow& row) -> const RangeTime* {
      return row.predicted ? &*row.predicted : nullptr;
    };
    const auto ideal = [](const RangeRow& row) -> const RangeTime* { return row.ideal ? &*row.ideal : nullptr; };
    // Averaged over the workers, like every bubble and share of a step: a server computes no model.
    const std::span<const RangeRow> all(analysis_.ranks);
    const auto workers = all.first(std::min(all.size(), static_cast<std::size_t>(std::max(analysis_.workers, 0))));
    add(rows, workers.size() < all.size() ? tr("%1 workers, mean").arg(workers.size()) : tr("all ranks, mean"),
        sum_of(workers, measured), sum_of(workers, predicted), sum_of(workers, ideal),
        std::max<double>(static_cast<double>(workers.size()), 1));
    for (std::size_t r = 0; r < analysis_.ranks.size(); ++r) {
      const RangeRow& row = analysis_.ranks[r];
      add(rows, names_[r], row.measured, row.predicted.value_or(RangeTime{}), row.ideal.value_or(RangeTime{}), 1);
    }
    return rows;
  }

 private:
  std::vector<Cell> row(const QString& title, const QString& how, const RangeTime& time, double ranks, bool timed,
                        Tone tone) const {
    std::vector<Cell> cells{
        {title}, {how, Tone::dim, {}}, {timed ? text::seconds(time.length_s() / ranks) : text::unknown(), tone, {}}};
    for (int c = 0; c < time_class_count; ++c) {
      if (!there_[static_cast<std::size_t>(c)]) continue;
      const auto kind = static_cast<TimeClass>(c);
      Cell cell{text::percent(time.share(kind)), tone, {}};
      if (timed) cell.help = text::seconds(time.seconds[static_cast<std::size_t>(c)] / ranks);
      cells.push_back(cell);
    }
    return cells;
  }
  void add(std::vector<std::vector<Cell>>& rows, const QString& title, const RangeTime& measured,
           const RangeTime& predicted, const RangeTime& ideal, double ranks) const {
    const bool ran = shown_ != Obtained::simulated;
    rows.push_back(row(title, ran ? text::utf8(name_of(shown_)) : tr("predicted"), measured, ranks, true, Tone::text));
    if (ran && !predicted.range.empty())
      rows.push_back(row(QString(), tr("predicted"), predicted, ranks, true, Tone::dim));
    if (!ideal.range.empty()) rows.push_back(row(QString(), tr("ideal"), ideal, ranks, false, Tone::dim));
  }

  const RangeAnalysis& analysis_;
  Obtained shown_;
  std::vector<QString> names_;
  std::array<bool, time_class_count> there_{};
};

}  // namespace

RangePicture range_picture_of(const RangeRequest& request) {
  RangePicture picture;
  if (!request.run || (!request.context && !is_imported(*request.run))) return picture;
  std::optional<std::uint32_t> number = request.step;
  if (!request.range.empty()) {
    const std::int64_t middle = request.range.begin_ns + request.range.length() / 2;
    const auto at = step_at(*request.run, request.shown, middle);
    number = at ? std::optional(at->step) : std::nullopt;
  }
  if (!number) return picture;
  const auto measured = analysed(*request.run, request.shown, request.context.get(), *number);
  if (!measured || measured->analysis.range.empty()) return picture;
  const StoreView& there = request.prediction ? *request.prediction : *request.run;
  std::optional<AnalysedStep> predicted;
  if (request.shown != Obtained::simulated && request.context)
    if (const auto under = predicted_for(there, {*number, measured->analysis.range}))
      predicted = analysed(there, Obtained::simulated, request.context.get(), under->predicted_step);
  const auto ideal = request.context ? ideal_of(*request.context) : std::nullopt;
  RangeAnalysis analysis =
      analyse_range(*measured, predicted ? &*predicted : nullptr, ideal ? &*ideal : nullptr, request.range);

  const double length = static_cast<double>(analysis.range.length()) * 1e-9;
  const double share = length / measured->analysis.seconds();
  picture.title = request.range.empty()
                      ? tr("Whole step %1: %2").arg(*number).arg(text::seconds(length))
                      : tr("%1 of step %2, %3 of it").arg(text::seconds(length)).arg(*number).arg(text::percent(share));
  // Asynchronous workers are at different steps: steps overlap, so a step's length does not give the rate.
  const bool asynchronous = request.context && steps_apart(request.context->programs) > 1;
  if (asynchronous) {
    picture.words = tr("No worker waits for the others, so this step overlaps several of theirs.");
    analysis.gap.clear();
  } else if (analysis.predicted_s > 0) {
    const double more = length / analysis.predicted_s - 1;
    picture.words = tr("The same ops were predicted to take %1; they took %2 %3.")
                        .arg(text::seconds(analysis.predicted_s), text::percent(std::fabs(more)),
                             more < 0 ? tr("less") : tr("more"));
  }
  if (request.range.empty()) {
    if (!picture.words.isEmpty()) picture.words += QLatin1Char(' ');
    picture.words += tr("Shift and drag in the time line to select a range.");
  }
  const Rows rows(analysis, request.context.get(), request.shown);
  picture.titles = rows.titles();
  picture.shares = rows.rows();
  for (const GapItem& item : analysis.gap) {
    if (std::fabs(item.points) < least_points || picture.gap.size() >= most_reasons) break;
    picture.gap.push_back({{QString::fromStdString(item.words)}});
  }
  picture.analysis = std::move(analysis);
  return picture;
}

ViewTable plain_table(const RangeAnalysis& analysis, Obtained shown) {
  ViewTable table{{tr("rank"), tr("as"), tr("length, s")}, {}};
  for (int c = 0; c < time_class_count; ++c)
    table.titles << tr("%1, s").arg(text::utf8(name_of(static_cast<TimeClass>(c))));
  table.titles << tr("of other unknown, s");
  const auto add = [&](std::int32_t rank, const QString& how, const RangeTime& time) {
    QStringList row{plain(std::int64_t{rank}), how, plain(time.length_s())};
    for (const double seconds : time.seconds) row << plain(seconds);
    table.rows.push_back(row << plain(time.unknown));
  };
  for (const RangeRow& row : analysis.ranks) {
    add(row.rank, shown == Obtained::simulated ? tr("predicted") : text::utf8(name_of(shown)), row.measured);
    if (row.predicted) add(row.rank, tr("predicted"), *row.predicted);
    if (row.ideal) add(row.rank, tr("ideal, in units"), *row.ideal);
  }
  return table;
}

}  // namespace rankscope::app
