// SPDX-License-Identifier: GPL-3.0-or-later
// Searches a scenario's plans in the background, with one strategy after the other (engine/predict/search/plan_search):
// each strategy's report is available when it ends. Only predictions are run, on threads of low priority.
#pragma once
#include <QObject>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "engine/predict/search/plan_search.hpp"

namespace rankscope::app {

class PlanSearcher : public QObject {
  Q_OBJECT
 public:
  explicit PlanSearcher(QObject* parent = nullptr);
  /// Waits for the plan that is being tried.
  ~PlanSearcher() override;

  /// Deletes the results, and begins with the first of `strategies`. `budget` and `seed` are for random and Bayesian
  /// search.
  void start(const Scenario& scenario, std::size_t budget, std::uint64_t seed, std::vector<Strategy> strategies);
  /// Stops; results are kept.
  void stop();
  /// Stops, and deletes the results.
  void clear();

  bool running() const { return running_; }
  /// "random: plan 12 of 100".
  QString progress_words() const { return progress_words_; }
  /// Why there is no result; empty: no error.
  QString failure() const { return failure_; }
  /// Null while unknown.
  std::shared_ptr<const PlanSearchReport> report(Strategy strategy) const;
  bool empty() const { return reports_.empty(); }
  /// The searched scenario; none before the first start.
  const std::optional<Scenario>& scenario() const { return scenario_; }
  /// Of the scenario's own plan.
  const std::optional<Judgement>& now() const { return now_; }

 signals:
  void changed();

 private:
  struct Job {
    std::atomic<bool> stopped{false};
  };
  void work(const std::shared_ptr<Job>& job, const Scenario& scenario, const Exploration& how,
            const std::vector<Strategy>& strategies);
  /// Runs `take` on the GUI thread, unless another search has begun since.
  void post(const std::shared_ptr<Job>& job, std::function<void()> take);
  void end();
  void forget();

  std::shared_ptr<Job> job_;
  std::jthread thread_;
  std::optional<Scenario> scenario_;
  std::optional<Judgement> now_;
  std::map<Strategy, std::shared_ptr<const PlanSearchReport>> reports_;
  QString progress_words_, failure_;
  bool running_ = false;
};

QString name_for_people(Strategy strategy);

/// Whether results of `searched` are valid for `now`: the same training on as many ranks of the same machine,
/// with any division.
bool same_search(const Scenario& searched, const Scenario& now);

}  // namespace rankscope::app
