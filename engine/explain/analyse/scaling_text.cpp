// A sweep as a table for a terminal: one row per point, with columns as wide as their content.
#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/base/host/excerpt.hpp"
#include "engine/explain/analyse/scaling.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/run_choices.hpp"

namespace rankscope {
namespace {

using figure::dash;
using figure::duration;
using figure::number;
using figure::percent;

// If the middle half of the steps is wider than this share of their median, two points that differ by less cannot be
// distinguished; with few steps the spread is uncertain.
constexpr double wide_spread = 0.2;
constexpr int steps_to_judge = 4;

std::string line(const std::string& label, const std::string& value) {
  return label + std::string(label.size() < 16 ? 16 - label.size() : 1, ' ') + value + "\n";
}

struct Column {
  std::string name;
  std::function<std::string(const SweepPoint&, const ScalingRow&)> cell;
  bool has_explanation = false;  ///< also for a point without figures
};

bool batch_varies(const Sweep& sweep) {
  const SweepPoint* first = nullptr;
  for (const SweepPoint& point : sweep.points) {
    if (!point.refused.empty()) continue;
    if (!first) first = &point;
    if (point.global_batch != first->global_batch) return true;
  }
  return false;
}

/// The name of the points' tokens.
std::string tokens_word(const Sweep& sweep) {
  return (sweep.scenario_toml.empty() ? ModelSpec{} : parse_recorded_scenario(sweep.scenario_toml).model).token_word() +
         "s";
}

std::vector<Column> columns_of(const Sweep& sweep, const ScalingTable& table) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i)
    columns.push_back(
        {sweep.axes[i].key, [i](const SweepPoint& point, const ScalingRow&) { return point.keys[i].value; }, true});
  const auto add = [&](const std::string& name, auto of_row) {
    columns.push_back(
        {name, [of_row](const SweepPoint&, const ScalingRow& row) -> std::string { return of_row(row); }});
  };
  columns.push_back({"ranks",
                     [](const SweepPoint& point, const ScalingRow&) {
                       return point.ranks > 0 ? std::to_string(point.ranks) : std::string(dash);
                     },
                     true});
  if (batch_varies(sweep))
    columns.push_back(
        {"batch", [](const SweepPoint& point, const ScalingRow&) { return std::to_string(point.global_batch); }});
  add("step", [](const ScalingRow& row) { return duration(row.run.step_seconds); });
  add("spread", [](const ScalingRow& row) { return row.steps > 1 ? percent(row.spread()) : dash; });
  add("predicted", [](const ScalingRow& row) { return duration(row.predicted.step_seconds); });
  add(tokens_word(sweep) + "/s", [](const ScalingRow& row) { return number(row.run.tokens_per_s, "{:.0f}"); });
  add("per rank", [](const ScalingRow& row) { return number(row.tokens_per_s_per_rank, "{:.0f}"); });
  if (table.comparable) {
    add("speed-up", [](const ScalingRow& row) { return number(row.run.speedup, "{:.2f}"); });
    add("efficiency", [](const ScalingRow& row) { return percent(row.run.efficiency); });
    add("predicted", [](const ScalingRow& row) { return percent(row.predicted.efficiency); });
  }
  add("bubble", [](const ScalingRow& row) { return percent(row.run.bubble); });
  add("exposed", [](const ScalingRow& row) { return percent(row.run.exposed); });
  add("MFU", [](const ScalingRow& row) { return percent(row.mfu); });
  return columns;
}

std::string padded(const std::string& cell, std::size_t width) { return std::string(width - cell.size(), ' ') + cell; }

std::string grid(const Sweep& sweep, const ScalingTable& table) {
  const std::vector<Column> columns = columns_of(sweep, table);
  const auto point_of = [&](const ScalingRow& row) -> const SweepPoint& { return sweep.points[row.point]; };
  const auto is_there = [](const Column& column, const ScalingRow& row) {
    return column.has_explanation || row.runs > 0;
  };
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    std::size_t width = column.name.size();
    for (const ScalingRow& row : table.rows)
      if (is_there(column, row)) width = std::max(width, column.cell(point_of(row), row).size());
    widths.push_back(width);
  }
  std::string text;
  for (std::size_t c = 0; c < columns.size(); ++c) text += (c ? "  " : "") + padded(columns[c].name, widths[c]);
  text += "\n";
  for (const ScalingRow& row : table.rows) {
    for (std::size_t c = 0; c < columns.size() && is_there(columns[c], row); ++c)
      text += (c ? "  " : "") + padded(columns[c].cell(point_of(row), row), widths[c]);
    if (row.runs == 0) text += "  not measured: " + row.reason;
    text += "\n";
  }
  return text;
}

std::string batch_words(const Sweep& sweep) {
  const auto first = std::ranges::find_if(sweep.points, [](const SweepPoint& point) { return point.refused.empty(); });
  if (first == sweep.points.end()) return "";
  if (sweep.scaling == Scaling::weak) return "; the global batch grows with the ranks";
  if (batch_varies(sweep)) return "; each point has its own global batch";
  return fmt::format("; the global batch is constant: {}, {} {}", counted(first->global_batch, "sample"),
                     first->tokens_per_step, tokens_word(sweep));
}

std::string head(const Sweep& sweep, const ScalingTable& table) {
  std::string over;
  for (const Axis& axis : sweep.axes) over += (over.empty() ? "" : " and ") + axis.key;
  std::string text = sweep.title.empty() ? "" : printable(sweep.title) + "\n";
  text += line(std::string(name_of(sweep.scaling)) + " scaling", "over " + over + batch_words(sweep));
  const std::string each_rank = sweep.threads > 1 ? "each rank's " + counted(sweep.threads, "thread") : "each rank";
  text += line("times are", sweep.clock == ClockDomain::device
                                ? "emulated, device clock: as if " + each_rank + " had its own device and links"
                                : "measured, wall clock");
  std::string each = counted(sweep.steps, "step");
  if (sweep.repeats > 1) each += " in each of " + counted(sweep.repeats, "run");
  if (sweep.steps > 1) each += "; medians without the first step";
  text += line("each point", each);
  text += line("baseline", table.baseline_words);
  if (!table.formula.empty()) text += line("", table.formula);
  return text;
}

std::string notes(const Sweep& sweep, const ScalingTable& table) {
  std::string text, wall;
  for (const ScalingRow& row : table.rows) {
    const std::string words = sweep.points[row.point].words();
    if (!std::isnan(row.wall_step_seconds))
      wall += line(wall.empty() ? "on the wall" : "",
                   duration(row.wall_step_seconds) + " at " + words +
                       (wall.empty() ? ", where the machine has a core for each rank" : ""));
    if (row.runs > 0 && !row.reason.empty()) text += line("not all runs", words + ": " + row.reason);
  }
  text += wall;
  const auto widest = std::ranges::max_element(
      table.rows, [](const ScalingRow& a, const ScalingRow& b) { return !(a.spread() >= b.spread()) && b.runs > 0; });
  if (widest != table.rows.end() && widest->steps >= steps_to_judge && widest->spread() > wide_spread)
    text += line("note", "steps vary by " + percent(widest->spread()) + " at " + sweep.points[widest->point].words() +
                             ": is something else running on the machine? --repeat N runs each point N times");
  if (table.baseline < 0) return text;
  text += line("spread", "the middle half of the steps is within this share of the median");
  text += line("predicted",
               std::string("the column to the left, predicted before the first step, from ") +
                   (sweep.device == word_of(DeviceKind::sleep) ? "the sleep times" : "costs measured on this machine"));
  text += line("exposed", "share of the step in communication that no compute covers");
  return text;
}

}  // namespace

std::string to_text(const Sweep& sweep, const ScalingTable& table) {
  return head(sweep, table) + "\n" + grid(sweep, table) + "\n" + notes(sweep, table);
}

}  // namespace rankscope
