// SPDX-License-Identifier: GPL-3.0-or-later
// The results of a search: all plans tried by any strategy, and a text about one of them. No
// widgets.
#pragma once
#include <map>
#include <memory>
#include <optional>

#include "app/views/common/rows_model.hpp"
#include "app/views/common/view_table.hpp"
#include "engine/predict/search/plan_search.hpp"

namespace rankscope::app {

using SearchReports = std::map<Strategy, std::shared_ptr<const PlanSearchReport>>;

struct FoundPlans {
  std::vector<Knob> knobs;
  std::vector<PlanPoint> points;
  std::vector<std::size_t> best;   ///< of points: those that fit, fastest first; of an exhaustive search its best ones
  std::vector<std::size_t> front;  ///< of points, by time
  std::vector<double> importance;  ///< [knob]; empty: unknown
  QString importance_words;        ///< its content, and how it was obtained
  double device_bytes = 0;
  int global_batch = 0;

  bool empty() const { return points.empty(); }
  const PlanPoint* fastest() const { return best.empty() ? nullptr : &points[best.front()]; }
  /// The point of this plan; none if it was not tried, or if another point represents it.
  std::optional<std::size_t> point_of(std::size_t number) const;
};

/// All points of an exhaustive search; without one, the plans that the others tried, each once.
FoundPlans merged(const SearchReports& reports);

/// "t4 p16 d2 zb-h1 m320 b1 zero1 recompute none sp".
QString plan_name(const FoundPlans& found, const PlanPoint& point);
/// Why it is not the fastest: how much slower it is, and where that time is spent; of a plan out of memory how much is
/// missing.
QString why_not_fastest(const FoundPlans& found, std::size_t point);

/// Rows of the table beside the chart: time, memory, knobs and parts of the step, of this plan and of the fastest one.
std::vector<std::vector<Cell>> plan_rows(const FoundPlans& found, std::size_t point);
/// Every point with its numbers and knobs, for a file.
ViewTable plans_table(const FoundPlans& found);
/// "random 100 tries: 257 s · Bayesian …": how close each strategy is to the best.
QString result_words(const SearchReports& reports);

}  // namespace rankscope::app
