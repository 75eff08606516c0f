// SPDX-License-Identifier: GPL-3.0-or-later
// The search view: plans for the same training on as many ranks, as points of time against memory. The front, plans
// that are out of memory, the results of three strategies by tries, and the most important knobs. A click on a point
// compares that plan with the fastest one, and a button applies it.
#pragma once
#include <QButtonGroup>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>

#include "app/session/plan_searcher.hpp"
#include "app/session/session.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/elided_label.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/plot/plot_chart.hpp"
#include "app/views/search/found_plans.hpp"
#include "app/views/search/importance_bars.hpp"

namespace rankscope::app {

class SearchView : public DataView {
  Q_OBJECT
 public:
  SearchView(SharedState& state, Session& session, QWidget* parent = nullptr);

  bool settled() const override { return !searcher_.running(); }
  QString own_source() const override;
  /// For the open scenario, with the tries and the seed in the boxes.
  void start(const std::vector<Strategy>& strategies = {Strategy::random, Strategy::bayes, Strategy::exhaustive});
  /// Some tries of random and Bayesian search, for pictures of a window without a user.
  void start_briefly();
  void stop() { searcher_.stop(); }
  /// Tries of random and Bayesian search, and their seed.
  void choose(int budget, int seed);
  /// A point of found().
  void choose_point(std::size_t point);
  /// Edits the plan to that of the chosen point.
  void use_chosen();

  const FoundPlans& found() const { return found_; }
  const PlanSearcher& searcher() const { return searcher_; }
  std::optional<std::size_t> chosen() const { return chosen_; }
  const PlotChart& plans_chart() const { return *plans_; }
  const PlotChart& tries_chart() const { return *tries_; }
  const ImportanceBars& bars() const { return *bars_; }
  QString why() const { return why_->text(); }

 protected:
  void take_colours() override { show_found(); }
  void arrange() override;
  void paint(QPainter& painter) override;
  ViewTable rows_shown() const override { return plans_table(found_); }
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum Side { plan_side, tries_side, knobs_side };
  void make_controls();
  void take_search();
  void take_scenario();
  void show_found();
  void show_chosen();
  Plot plans_plot() const;
  Plot tries_plot() const;
  bool can_search() const { return session_.scenario().has_value(); }

  Session& session_;
  PlanSearcher searcher_;
  SearchReports reports_;
  FoundPlans found_;
  std::optional<std::size_t> chosen_;  ///< of found_.points
  bool picked_ = false;                ///< by the user; else the second-best plan is chosen
  QPushButton *search_, *use_, *fastest_;
  QSpinBox *budget_, *seed_;
  ElidedLabel *words_, *source_;
  PlotChart *plans_, *tries_;
  ImportanceBars* bars_;
  ElidedLabel* name_;
  QLabel* why_;
  RowsTable* table_;
  QButtonGroup* sides_;
};

}  // namespace rankscope::app
