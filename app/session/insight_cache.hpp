// SPDX-License-Identifier: GPL-3.0-or-later
// Analyses steps on its own thread and caches the results: they name the bubbles in the time line.
#pragma once
#include <QObject>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "app/models/bubble_source.hpp"
#include "app/session/prediction.hpp"
#include "engine/explain/facts/imported.hpp"

namespace rankscope::app {

/// The data besides spans for the analysis of a run's steps; constant during the run. Immutable.
struct InsightContext {
  std::shared_ptr<const RunContext> run;         ///< null: nothing is known
  std::vector<StepFacts> imported;               ///< [rank], of an imported run, which has no context
  std::shared_ptr<const Prediction> prediction;  ///< of the plan; may be null
  std::shared_ptr<const StoreView> forecast;     ///< shown under the run as a ghost; may be null
  std::optional<StepAnalysis> forecast_step;     ///< its steady step
  double ideal_bubble = std::numeric_limits<double>::quiet_NaN();
  bool complete = false;  ///< of a run, made after all programs and the prediction had arrived: it will not change
};

class InsightCache : public QObject, public BubbleSource {
  Q_OBJECT
 public:
  explicit InsightCache(QObject* parent = nullptr);
  ~InsightCache() override;

  /// Another run, or more data about it: cached results are deleted. Null: nothing is known.
  void set_context(std::shared_ptr<const InsightContext> context);
  std::shared_ptr<const StepInsight> insight(const std::shared_ptr<const StoreView>& run,
                                             const std::shared_ptr<const StoreView>& prediction, Obtained obtained,
                                             std::uint32_t step) override;
  /// These two also while veiled: the order of ops belongs to the plan and is no answer.
  std::shared_ptr<const Step> linked(std::uint32_t step) override;
  std::shared_ptr<const RankProgram> program(int rank) override;
  bool settled() const;
  /// Hides all results: a question about them is open.
  void set_veiled(bool veiled);

 signals:
  /// A result that was null before is available. Emitted on the GUI thread.
  void arrived();

 private:
  struct Key {
    Obtained obtained = Obtained::measured;
    std::uint32_t step = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    TimeRange range;  ///< of the step when it was analysed: a longer step is analysed again
    std::shared_ptr<const StepInsight> insight;
  };
  struct Job {
    Key key;
    std::shared_ptr<const StoreView> run;
    std::shared_ptr<const InsightContext> context;
  };
  void work();

  mutable std::mutex mutex_;
  std::condition_variable work_available_;
  std::shared_ptr<const InsightContext> context_;
  std::deque<Entry> entries_;  ///< newest use last
  std::deque<Job> jobs_;       ///< newest last, computed first: it is on the screen
  bool working_ = false, ending_ = false, veiled_ = false;
  std::thread thread_;
};

}  // namespace rankscope::app
