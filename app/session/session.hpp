// SPDX-License-Identifier: GPL-3.0-or-later
// The open content: a scenario that may be run, a watched run, or a recording. The same for all
// views.
//
//   empty ── open ──► opening ──► ready ── run ──► starting ──► running ──► ended | failed ── run ──► starting …
//                        │           ▲                 │            └─ stop ──► stopping ──► ended
//                        └► failed   └── plan edited    └► failed
//
// A scenario is ready when its prediction (or its refusal, which disables Run) is available. A recording has ended when
// it is read; an endpoint is running during its session. All slow work is done on other threads.
//
// Three changes are transactions: each shows the old content or the new one, never a mixture.
//   open     if something cannot be opened, the content does not change, and `open_failed` gives the reason. If nothing
//            is open, the state is also `failed`.
//   edit     the old plan's run and prediction stay until the new plan is predicted; then all is replaced at once.
//   restore  plan, run, prediction and figures are restored together.
#pragma once
#include <QElapsedTimer>
#include <QFileInfo>
#include <QTimer>
#include <memory>
#include <optional>
#include <set>

#include "app/models/snapshot_source.hpp"
#include "app/session/analysis.hpp"
#include "app/session/engine_child.hpp"
#include "app/session/feed.hpp"
#include "app/session/figures.hpp"
#include "app/session/latest.hpp"
#include "app/session/other_run.hpp"
#include "app/session/path_cache.hpp"
#include "app/session/prediction.hpp"
#include "app/session/source_spec.hpp"

namespace rankscope {
class SessionDirectory;
}  // namespace rankscope

namespace rankscope::app {

enum class SessionState : std::uint8_t { empty, opening, ready, starting, running, stopping, ended, failed };
/// The label's text: nothing open; only predicted; a live run; one from which nothing arrives any more, for some
/// seconds or since the connection was lost; a live run that has ended; a run that was left while it continues; read
/// from a file.
enum class SourceLabel : std::uint8_t { none, simulated, live, silent, lost, ended, detached, recorded };
/// It has not ended, as far as is known.
constexpr bool is_watched(SourceLabel label) {
  return label == SourceLabel::live || label == SourceLabel::silent || label == SourceLabel::lost;
}

/// The run of a session at the time it was left. A value: cheap to copy, and an input of Session::restore().
struct SessionContent {
  SourceSpec spec;
  SessionState state = SessionState::empty;
  std::optional<Scenario> scenario;
  bool edited = false;
  std::shared_ptr<RunStore> store;  ///< null: nothing ran
  std::shared_ptr<const StoreView> run_view;
  std::shared_ptr<const Prediction> prediction;
  std::shared_ptr<const InsightContext> context;
  std::shared_ptr<const Figures> figures;
  KeptRun previous;
  QString refusal, failure, outcome, recording;
};

struct SessionOptions {
  QString engine;              ///< program to start; empty: find_engine()
  QString recordings_folder;   ///< where runs are recorded; empty: they are not recorded
  int start_limit_ms = 20000;  ///< limit for a started engine to send its first message
  int stop_grace_ms = 5000;
  int connect_limit_ms = 30000;  ///< limit for an endpoint to send its first message
  /// Detail of a live run that is kept here: older detail becomes a gap, and is in the recording. 0: all.
  std::int64_t live_bytes = std::int64_t{400} << 20;
  /// Of a live run, steps whose ranks' summaries are kept one by one here (RunStore).
  std::uint32_t live_steps = 256;
};

class Session : public SnapshotSource {
  Q_OBJECT
 public:
  explicit Session(SessionOptions options = {}, QObject* parent = nullptr);
  ~Session() override;

  // SnapshotSource: the run's store while there is a run, else the prediction's.
  std::shared_ptr<const StoreView> view() const override;
  std::shared_ptr<const StoreView> prediction() const override;

  /// Opens this, then closes the previous content (a run started here is stopped). If it fails, nothing changes.
  void open(const SourceSpec& spec);
  /// Cancels opening.
  void cancel_opening();
  /// Starts the engine on the scenario as edited. Only when can_run().
  void run();
  /// Stops the run started here, leaves an endpoint, or cancels the reading of a recording.
  void stop();
  /// Replaces the plan by the user's: predicted immediately, run by run().
  void edit(const Scenario& scenario);
  /// Restores the file's plan.
  void revert();
  /// The step that the figures are about; none: the last complete one.
  void choose_step(std::optional<std::uint32_t> step);
  /// The open content, for restore(). A run that is too large to keep is omitted.
  SessionContent content() const;
  /// Restores plan, run, prediction and figures. Returns false and changes nothing during a run, or if something
  /// else was open then.
  bool restore(const SessionContent& content);

  SessionState state() const { return state_; }
  SourceLabel label() const;
  /// Of a silent or lost run: the seconds since its last message.
  int silent_seconds() const { return silent_s_; }
  /// A run that was started here is in progress.
  bool active() const;
  /// The plan was changed, and its prediction is not available yet.
  bool predicting() const { return !predictor_.settled(); }
  /// The source that is being opened while the previous content is still shown; kind none: nothing.
  const SourceSpec& opening() const { return pending_.spec; }
  /// Of the content being opened: the time since it began, and its latest progress.
  std::int64_t opening_ms() const;
  QString opening_words() const { return pending_.words; }
  bool can_run() const;
  bool can_stop() const;
  const SourceSpec& spec() const { return spec_; }
  const std::optional<Scenario>& scenario() const { return scenario_; }
  /// True while the plan differs from the file's.
  bool edited() const { return edited_; }
  const std::shared_ptr<const Prediction>& predicted() const { return prediction_; }
  FiguresModel& figures() { return figures_; }
  /// Names the bubbles of any step; `changed` follows when a missing answer has arrived.
  InsightCache& insights() { return insights_; }
  /// Optimizers' paths on surfaces; independent of what is open.
  PathCache& paths() { return paths_; }
  /// Why the edited plan cannot run, or why the run failed; empty: no error.
  QString refusal() const { return refusal_; }
  QString failure() const { return failure_; }
  /// How it ended without a failure: "stopped after step 12"; empty otherwise.
  QString outcome() const { return outcome_; }
  QString dismissal() const { return dismissal_; }
  /// What is missing in the open recording (truncated or damaged); empty: it is complete.
  QString damage() const { return damage_; }
  QString endpoint() const { return endpoint_; }
  QString recording() const { return recording_; }
  /// The engine that is started; empty when there is none.
  QString engine_program() const { return options_.engine.isEmpty() ? find_engine() : options_.engine; }
  QString recordings_folder() const { return options_.recordings_folder; }
  /// The keys in which the plan differs from the file's, as arguments of the engine, except these.
  QStringList overrides(const std::set<std::string>& without = {}) const;
  /// The recorded runs that were started in this window's folder, newest first.
  QFileInfoList recordings() const;
  double progress() const { return progress_; }
  QString progress_words() const { return progress_words_; }
  /// The last run that was replaced by another run, a changed plan or another file; not there() if there was none.
  const KeptRun& previous() const { return previous_; }
  /// False while a worker thread computes an answer.
  bool settled() const;

 signals:
  void state_changed();
  void opening_changed();  ///< opening() or its progress
  /// Opening failed, with the reason in one line. The content is unchanged.
  void open_failed(const SourceSpec& spec, const QString& why);
  void opened(const SourceSpec& spec);  ///< it is open now
  void left();                          ///< the previous content was closed; the new one follows
  void plan_leaving();                  ///< the plan is about to be changed by edit()
  void damage_changed();
  void contact_changed();   ///< whether a live run's messages arrive: label() and silent_seconds()
  void scenario_changed();  ///< another scenario or plan
  void progress_changed();
  void run_left();  ///< previous() has changed
  void log(const QString& text, bool bad);

 private:
  void set_state(SessionState state);
  void fail(const QString& words);
  /// A store that is being filled by a feed, and not shown yet.
  struct Pending {
    SourceSpec spec;
    std::shared_ptr<RunStore> store;
    std::unique_ptr<Feed> feed;
    QElapsedTimer since;
    QString words;   ///< its last progress message
    QString damage;  ///< of a recording that was read before it was shown
  };
  struct PlanAnswer {
    std::shared_ptr<const Prediction> prediction;
    std::optional<Analysis> analysis;   ///< of the prediction only, if nothing has run
    std::optional<std::uint32_t> step;  ///< that it is about
  };

  bool has_content() const;
  void open_scenario(const SourceSpec& spec);
  void open_feed(const SourceSpec& spec);
  void look_at_opening();
  void take_damage(const QString& words);
  void take_opened();  ///< the content being opened becomes the open one
  void refuse_opening(const SourceSpec& spec, const QString& why);
  void use_scenario(Scenario scenario, bool edited);
  void drop_run();
  void watch(std::unique_ptr<Feed> feed);
  void listen(Feed& feed);
  void on_plan_answer(PlanAnswer answer);
  void on_feed_ended(bool ok, const QString& words);
  void on_engine_ended(bool ok, const QString& reason);
  void await_feed(int quiet_ms);
  void finish_run();
  void take_ends(const std::vector<End>& ends);
  void leave();
  void poll();  ///< has the store grown?
  void set_store(std::shared_ptr<RunStore> store);
  void request_figures();
  void on_analysis(const Analysis& analysis);
  void notice_loss();
  void learn_scenario();
  EngineCommand engine_command();

  SessionOptions options_;
  SourceSpec spec_;
  SessionState state_ = SessionState::empty;
  std::optional<Scenario> scenario_, file_scenario_;
  bool edited_ = false, engine_done_ = false, feed_done_ = false, run_ok_ = true;
  bool run_outdated_ = false;  ///< the plan was changed: the run is removed when the plan is predicted
  Contact contact_ = Contact::good;
  int silent_s_ = 0;
  bool detached_ = false;  ///< the user left, or was dismissed from, an endpoint whose session continued
  Pending pending_;
  std::shared_ptr<RunStore> store_;            ///< of the run; null while nothing ran
  std::shared_ptr<const StoreView> run_view_;  ///< the store at the last poll: the same for all views of one frame
  std::shared_ptr<const StoreView> empty_view_;
  std::shared_ptr<const Prediction> prediction_;
  std::shared_ptr<const InsightContext> context_;
  FiguresModel figures_;
  InsightCache insights_;
  Latest<PlanAnswer> predictor_;
  Latest<Analysis> analyser_;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<EngineChild> engine_;
  QTimer ticker_, start_limit_;
  bool loss_noticed_ = false;  ///< that it is not finite
  std::uint64_t seen_revision_ = 0, analysed_revision_ = 0;
  std::uint64_t run_number_ = 0;  ///< of the run of the analysis in progress
  QElapsedTimer since_analysis_, since_poll_;
  std::optional<std::uint32_t> chosen_step_;
  std::unique_ptr<SessionDirectory> endpoint_folder_;  ///< of the run's socket
  QString refusal_, failure_, outcome_, damage_, endpoint_, recording_, progress_words_;
  QString dismissal_;  ///< why the relay no longer accepts this viewer; empty if the user left
  double progress_ = 0;
  KeptRun previous_;
  PathCache paths_{[this] { return engine_program(); }};
};

}  // namespace rankscope::app
