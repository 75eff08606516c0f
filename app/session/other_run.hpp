// SPDX-License-Identifier: GPL-3.0-or-later
// The run that the session's run is compared with: the previous one, a saved one, or a recording. It has views,
// figures and named bubbles like the session, all made on other threads.
#pragma once
#include <QObject>

#include "app/models/snapshot_source.hpp"
#include "app/session/analysis.hpp"
#include "app/session/feed.hpp"
#include "app/session/latest.hpp"

namespace rankscope::app {

class Session;

/// Content that was kept: a run's snapshot, or a prediction if nothing ran.
struct KeptRun {
  QString name;                          ///< "Pipeline, 1F1B, 12:31:07"
  std::shared_ptr<const StoreView> run;  ///< null: the prediction was kept
  std::shared_ptr<const Prediction> prediction;
  bool there() const { return run != nullptr || prediction != nullptr; }
};
/// The session's current content; not there() if it shows nothing.
KeptRun kept_run(const Session& session);

class OtherRun : public SnapshotSource {
  Q_OBJECT
 public:
  explicit OtherRun(QObject* parent = nullptr);
  ~OtherRun() override;

  // SnapshotSource
  std::shared_ptr<const StoreView> view() const override;

  void keep(const KeptRun& kept);
  /// Reads a recording in the background; errors are in failure().
  void open(const QString& trace);
  void close();

  bool there() const { return view_ != nullptr; }
  QString name() const { return name_; }
  QString failure() const { return failure_; }
  bool reading() const { return feed_ != nullptr; }
  double progress() const { return progress_; }
  /// How the compared figures were obtained.
  Obtained obtained() const;
  FiguresModel& figures() { return figures_; }
  InsightCache& insights() { return insights_; }
  void choose_step(std::optional<std::uint32_t> step);
  bool settled() const { return !reading() && analyser_.settled() && insights_.settled(); }

 signals:
  void state_changed();  ///< another run, none, reading or read

 private:
  void leave();
  void take_read(bool ok, const QString& words);
  void request_figures();

  QString name_, failure_;
  double progress_ = 0;
  std::shared_ptr<const StoreView> view_;  ///< null: there is none
  std::shared_ptr<const StoreView> empty_view_;
  std::shared_ptr<const Prediction> prediction_;
  std::shared_ptr<const InsightContext> context_;
  std::shared_ptr<RunStore> store_;  ///< while it is read
  std::unique_ptr<Feed> feed_;
  std::optional<std::uint32_t> step_;
  std::uint64_t number_ = 0;  ///< of the run that an analysis under way is about
  FiguresModel figures_;
  InsightCache insights_;
  Latest<Analysis> analyser_;
};

}  // namespace rankscope::app
