// SPDX-License-Identifier: GPL-3.0-or-later
// The rank grid as arithmetic: the cell of each rank, and its value of the selected quantity. No widgets.
#pragma once
#include <QRectF>
#include <QString>
#include <vector>

#include "app/session/figures.hpp"
#include "app/views/common/rows_model.hpp"
#include "engine/plan/mesh/rank_grid.hpp"

namespace rankscope::app {

enum class GridQuantity { compute, bubble, exposed, unknown_time, peak_memory, lateness };
inline constexpr int grid_quantity_count = 6;
QString label_of(GridQuantity quantity);
QString brief_label_of(GridQuantity quantity);

/// Value of each rank: a share of the step, bytes, or seconds. NaN if unknown.
std::vector<double> values_of(const Figures& figures, GridQuantity quantity);
QString text_of(GridQuantity quantity, double value);
/// The value of a full cell: 1 for a share, else the greatest value; 0 if nothing is known.
double full_scale(GridQuantity quantity, const std::vector<double>& values);
/// The delay after the first of its group with which a rank enters a collective of the step, averaged over those that
/// it shares with others: seconds.
std::vector<double> lateness_of(const RunContext& context, const std::vector<Span>& step_spans);

/// The grid as it is shown. If there are too many replicas for a row each, or they are identical because the plan is
/// folded, a row represents several of them; in a folded plan a cell represents all ranks of a stage in that row.
struct GridFold {
  RankGrid whole, shown;
  std::vector<std::vector<int>> replicas;  ///< [row]
  bool identical = false;                  ///< the ranks of a cell are identical, except a slow one in its own row
  int slow_rank = -1;

  bool folds() const { return shown.size() < whole.size(); }
  /// The ranks of a cell, ascending.
  std::vector<int> ranks_of(int cell) const;
  int cell_of(int rank) const;
  /// "replica 3", "replicas 0–7", "256 replicas".
  QString row_name(int row) const;
  /// "rank 3", "8 ranks", "128 identical ranks".
  QString cell_name(int cell) const;
};
GridFold fold_grid(const Report& report, int most_rows);
/// The mean of the known values of each cell's ranks; NaN if none is known.
std::vector<double> cell_values(const GridFold& fold, const std::vector<double>& by_rank);

/// Stages from left to right, data-parallel replicas from top to bottom; the tensor ranks of one place are side by
/// side in it, closer together.
struct GridLayout {
  RankGrid grid;
  std::vector<QRectF> cells;        ///< by rank
  std::vector<double> stage_left;   ///< x of each pipeline stage
  std::vector<double> replica_top;  ///< y of each data-parallel replica
  double place_width = 0, place_height = 0;
  /// The rank at a point; -1 outside of all cells.
  int rank_at(QPointF point) const;
};
/// Rows of cells: replicas, or parameter servers if there are more of them.
int place_rows(const RankGrid& grid);
GridLayout lay_out_grid(const RankGrid& grid, const QRectF& area);

/// Every rank with all its quantities, the greatest of the chosen one first; ranks without one last.
struct GridRanking {
  std::vector<int> ranks;  ///< [row]
  std::vector<std::vector<Cell>> rows;
};
QStringList ranking_titles();
GridRanking rank_by(const Figures& figures, GridQuantity quantity);

}  // namespace rankscope::app
