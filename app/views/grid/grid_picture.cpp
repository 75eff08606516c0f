// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/grid/grid_picture.hpp"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "app/models/run_plan.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/facts/facts.hpp"
#include "engine/op/contains.hpp"

namespace rankscope::app {
namespace {

constexpr double widest_place = 600, most_gap = 8;

double gap_between(double room, int places) { return std::min(most_gap, room / places * 0.15); }

}  // namespace

QString label_of(GridQuantity quantity) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("GridView", text); };
  switch (quantity) {
    case GridQuantity::compute: return tr("compute, share of the step");
    case GridQuantity::bubble: return tr("bubble, share of the step");
    case GridQuantity::exposed: return tr("exposed communication, share of the step");
    case GridQuantity::unknown_time: return tr("unknown, share of the step");
    case GridQuantity::peak_memory: return tr("peak memory over all steps");
    case GridQuantity::lateness: return tr("lateness at collectives");
  }
  return {};
}

QString brief_label_of(GridQuantity quantity) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("GridView", text); };
  switch (quantity) {
    case GridQuantity::compute: return tr("compute");
    case GridQuantity::bubble: return tr("bubble");
    case GridQuantity::exposed: return tr("exposed");
    case GridQuantity::unknown_time: return tr("unknown");
    case GridQuantity::peak_memory: return tr("peak, all steps");
    case GridQuantity::lateness: return tr("late by");
  }
  return {};
}

std::vector<double> values_of(const Figures& figures, GridQuantity quantity) {
  std::vector<double> values;
  const Report* report = figures.shown();
  if (report == nullptr) return values;
  values.assign(static_cast<std::size_t>(std::max(report->ranks, 0)), std::numeric_limits<double>::quiet_NaN());
  if (quantity == GridQuantity::peak_memory) {
    const RankGrid grid = report->plan.grid();
    for (const MemoryRow& row : report->memory) {
      if (row.rank < 0 || row.rank >= report->ranks) continue;
      const auto& bytes = figures.run ? row.measured : row.predicted;
      if (!bytes) continue;
      const auto peak = static_cast<double>(bytes->peak);
      values[static_cast<std::size_t>(row.rank)] = peak;
      if (row.identical_ranks < 2) continue;
      const int stage = grid.coordinates_of(row.rank).pipeline;  // a row of a folded plan is a stage's
      for (int rank = 0; rank < grid.workers(); ++rank)
        if (grid.coordinates_of(rank).pipeline == stage) values[static_cast<std::size_t>(rank)] = peak;
    }
    return values;
  }
  if (quantity == GridQuantity::lateness) {
    if (figures.context) values = lateness_of(*figures.context, figures.step_spans);
    values.resize(static_cast<std::size_t>(std::max(report->ranks, 0)), std::numeric_limits<double>::quiet_NaN());
    return values;
  }
  const StepAnalysis* step = figures.shown_step();
  if (step == nullptr) return values;
  for (std::size_t rank = 0; rank < values.size() && rank < step->ranks.size(); ++rank) {
    const StepShares& shares = step->ranks[rank];
    switch (quantity) {
      case GridQuantity::compute: values[rank] = shares[TimeClass::compute] + shares[TimeClass::recompute]; break;
      case GridQuantity::bubble: values[rank] = shares[TimeClass::bubble]; break;
      case GridQuantity::exposed:
        values[rank] =
            shares[TimeClass::tensor] + shares[TimeClass::pipeline] + shares[TimeClass::data] + shares[TimeClass::zero];
        break;
      case GridQuantity::unknown_time: values[rank] = shares.unknown; break;
      case GridQuantity::peak_memory:
      case GridQuantity::lateness: break;
    }
  }
  return values;
}

QString text_of(GridQuantity quantity, double value) {
  if (quantity == GridQuantity::lateness) return text::seconds(value);
  return quantity == GridQuantity::peak_memory ? text::bytes(value) : text::percent(value);
}

double full_scale(GridQuantity quantity, const std::vector<double>& values) {
  if (quantity != GridQuantity::peak_memory && quantity != GridQuantity::lateness) return 1;
  double greatest = 0;
  for (const double value : values)
    if (std::isfinite(value)) greatest = std::max(greatest, value);
  return greatest;
}

std::vector<double> lateness_of(const RunContext& context, const std::vector<Span>& step_spans) {
  const RankGrid& grid = context.step.grid;
  std::map<OpId, GroupKind> groups;
  for (const RankProgram& program : context.programs)
    for (const Op& op : program.ops)
      if (is_collective(op.id.kind())) groups.emplace(op.id, op.group);
  // A collective is an op of one group: its first member represents it.
  std::map<std::pair<OpId, int>, std::int64_t> first;
  const auto key_of = [&](const Span& span) -> std::optional<std::pair<OpId, int>> {
    const auto kind = groups.find(span.op);
    if (kind == groups.end()) return std::nullopt;
    const auto members = grid.group_of(span.rank, kind->second);
    if (members.size() < 2) return std::nullopt;
    return std::pair{span.op, members.front()};
  };
  for (const Span& span : step_spans)
    if (const auto key = key_of(span)) {
      const auto [at, fresh] = first.emplace(*key, span.begin_ns);
      if (!fresh) at->second = std::min(at->second, span.begin_ns);
    }
  std::vector<double> sums(static_cast<std::size_t>(grid.size())), counts(sums.size());
  for (const Span& span : step_spans)
    if (const auto key = key_of(span); key && span.rank >= 0 && span.rank < grid.size()) {
      sums[static_cast<std::size_t>(span.rank)] += static_cast<double>(span.begin_ns - first.at(*key)) * 1e-9;
      ++counts[static_cast<std::size_t>(span.rank)];
    }
  for (std::size_t rank = 0; rank < sums.size(); ++rank) sums[rank] /= counts[rank];  // NaN of none
  return sums;
}

int GridLayout::rank_at(QPointF point) const {
  for (std::size_t rank = 0; rank < cells.size(); ++rank)
    if (cells[rank].contains(point)) return static_cast<int>(rank);
  return -1;
}

std::vector<int> GridFold::ranks_of(int cell) const {
  const Coordinates at = shown.coordinates_of(cell);
  if (shown.is_server(cell)) return {whole.workers() + at.data};
  std::vector<int> ranks;
  for (const int replica : replicas[static_cast<std::size_t>(at.data)])
    for (int tensor = 0; tensor < whole.tensor; ++tensor)
      if (shown.tensor == whole.tensor ? tensor == at.tensor : true)
        ranks.push_back(whole.rank_of({tensor, replica, at.pipeline}));
  return ranks;
}

int GridFold::cell_of(int rank) const {
  if (rank < 0 || rank >= whole.size()) return -1;
  if (whole.is_server(rank)) return shown.workers() + rank - whole.workers();
  const Coordinates at = whole.coordinates_of(rank);
  for (std::size_t row = 0; row < replicas.size(); ++row)
    if (contains(replicas[row], at.data))
      return shown.rank_of({shown.tensor == whole.tensor ? at.tensor : 0, static_cast<int>(row), at.pipeline});
  return -1;
}

QString GridFold::row_name(int row) const {
  const auto tr = [](const char* text) { return QCoreApplication::translate("GridView", text); };
  const std::vector<int>& of = replicas[static_cast<std::size_t>(row)];
  if (of.size() == 1) return tr("replica %1").arg(of.front());
  if (identical) return slow_rank >= 0 ? tr("%1 others").arg(of.size()) : tr("%1 replicas").arg(of.size());
  return tr("%1–%2").arg(of.front()).arg(of.back());
}

QString GridFold::cell_name(int cell) const {
  const auto tr = [](const char* text) { return QCoreApplication::translate("GridView", text); };
  const std::vector<int> ranks = ranks_of(cell);
  if (ranks.size() == 1) return tr("rank %1").arg(ranks.front());
  if (!identical) return tr("%1 ranks").arg(ranks.size());
  if (contains(ranks, slow_rank)) return tr("%1 ranks, %2 slow").arg(ranks.size()).arg(slow_rank);
  return tr("%1 identical ranks").arg(ranks.size());
}

GridFold fold_grid(const Report& report, int most_rows) {
  const RankGrid grid = report.plan.grid();
  GridFold fold{grid, grid, {}, report.folded, report.folded && report.slow ? report.slow->rank : -1};
  if (report.folded) {
    const int slow = fold.slow_rank >= 0 ? grid.coordinates_of(fold.slow_rank).data : -1;
    if (slow >= 0) fold.replicas.push_back({slow});
    std::vector<int> others;
    for (int replica = 0; replica < grid.data; ++replica)
      if (replica != slow) others.push_back(replica);
    if (!others.empty()) fold.replicas.push_back(std::move(others));
    fold.shown.tensor = 1;
  } else {
    const int rows = std::clamp(most_rows, 1, std::max(1, grid.data));
    const int each = (grid.data + rows - 1) / rows;
    for (int first = 0; first < grid.data; first += each) {
      std::vector<int>& row = fold.replicas.emplace_back();
      for (int replica = first; replica < std::min(first + each, grid.data); ++replica) row.push_back(replica);
    }
  }
  fold.shown.data = static_cast<int>(fold.replicas.size());
  return fold;
}

std::vector<double> cell_values(const GridFold& fold, const std::vector<double>& by_rank) {
  std::vector<double> values;
  for (int cell = 0; cell < fold.shown.size(); ++cell) {
    double sum = 0, known = 0;
    for (const int rank : fold.ranks_of(cell)) {
      const double value =
          static_cast<std::size_t>(rank) < by_rank.size() ? by_rank[static_cast<std::size_t>(rank)] : std::nan("");
      if (!std::isfinite(value)) continue;
      sum += value;
      ++known;
    }
    values.push_back(sum / known);
  }
  return values;
}

int place_rows(const RankGrid& grid) { return std::max(grid.data, grid.servers); }

GridLayout lay_out_grid(const RankGrid& grid, const QRectF& area) {
  GridLayout layout;
  layout.grid = grid;
  // Parameter servers have their own column beside the stages.
  const int columns = grid.pipeline + (grid.servers > 0 ? 1 : 0), rows = place_rows(grid);
  const double gap_x = gap_between(area.width(), columns), gap_y = gap_between(area.height(), rows);
  layout.place_width = std::min(widest_place, (area.width() - gap_x * (columns - 1)) / columns);
  layout.place_height = (area.height() - gap_y * (rows - 1)) / rows;
  for (int stage = 0; stage < grid.pipeline; ++stage)
    layout.stage_left.push_back(area.left() + stage * (layout.place_width + gap_x));
  for (int replica = 0; replica < grid.data; ++replica)
    layout.replica_top.push_back(area.top() + replica * (layout.place_height + gap_y));
  const double inner = grid.tensor > 1 ? std::min(2.0, layout.place_width / grid.tensor * 0.1) : 0;
  const double width = (layout.place_width - inner * (grid.tensor - 1)) / grid.tensor;
  const auto top = [&](int row) { return area.top() + row * (layout.place_height + gap_y); };
  for (int rank = 0; rank < grid.size(); ++rank) {
    const Coordinates at = grid.coordinates_of(rank);
    if (grid.is_server(rank)) {
      layout.cells.emplace_back(area.left() + grid.pipeline * (layout.place_width + gap_x), top(at.data),
                                layout.place_width, layout.place_height);
      continue;
    }
    layout.cells.emplace_back(layout.stage_left[static_cast<std::size_t>(at.pipeline)] + at.tensor * (width + inner),
                              layout.replica_top[static_cast<std::size_t>(at.data)], width, layout.place_height);
  }
  return layout;
}

QStringList ranking_titles() {
  QStringList titles{QCoreApplication::translate("GridView", "rank")};
  for (int i = 0; i < grid_quantity_count; ++i) titles << brief_label_of(static_cast<GridQuantity>(i));
  return titles;
}

GridRanking rank_by(const Figures& figures, GridQuantity quantity) {
  GridRanking ranking;
  const Report* report = figures.shown();
  if (report == nullptr) return ranking;
  const RankGrid grid = report->plan.grid();
  Scenario scenario;
  scenario.plan = report->plan;
  const RunPlan plan{scenario, grid};
  std::vector<std::vector<double>> values;
  for (int i = 0; i < grid_quantity_count; ++i) values.push_back(values_of(figures, static_cast<GridQuantity>(i)));
  const auto value = [&](int of_quantity, int rank) {
    const auto& all = values[static_cast<std::size_t>(of_quantity)];
    return static_cast<std::size_t>(rank) < all.size() ? all[static_cast<std::size_t>(rank)] : std::nan("");
  };
  for (int rank = 0; rank < grid.size(); ++rank) ranking.ranks.push_back(rank);
  const int chosen = static_cast<int>(quantity);
  std::stable_sort(ranking.ranks.begin(), ranking.ranks.end(), [&](int a, int b) {
    const double x = value(chosen, a), y = value(chosen, b);
    return std::isfinite(x) && (!std::isfinite(y) || x > y);
  });
  for (const int rank : ranking.ranks) {
    std::vector<Cell> row{{text::rank_name(plan, rank)}};
    for (int i = 0; i < grid_quantity_count; ++i)
      row.push_back({text_of(static_cast<GridQuantity>(i), value(i, rank)), i == chosen ? Tone::text : Tone::dim, {}});
    ranking.rows.push_back(std::move(row));
  }
  return ranking;
}

}  // namespace rankscope::app
