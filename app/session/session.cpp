// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/session.hpp"

#include <QDir>
#include <utility>

#include "engine/explain/facts/facts.hpp"
#include "engine/explain/facts/imported.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {
namespace {

constexpr int frame_interval_ms = 40;
/// Live, the whole-run figures are recomputed at most this often; they are medians and change slowly.
constexpr int analysis_interval_ms = 400;
// Pictures and analyses made while a recording is read are soon outdated, slow the reading down, and use memory: a
// snapshot keeps what later merges replace. A recording of ten million events is read before a part of it is drawn.
constexpr int reading_frame_interval_ms = 1500, reading_analysis_interval_ms = 4000;
/// A run with more events is not kept when another plan is chosen: its recording can be opened instead.
constexpr std::int64_t most_kept_events = 5'000'000;

bool is_about(const Prediction& prediction, const Scenario& scenario) { return prediction.scenario == scenario; }

}  // namespace

Session::Session(SessionOptions options, QObject* parent)
    : SnapshotSource(parent),
      options_(std::move(options)),
      empty_view_(RunStore().view()),
      predictor_([this](PlanAnswer answer) { on_plan_answer(std::move(answer)); }),
      analyser_([this](const Analysis& analysis) { on_analysis(analysis); }) {
  ticker_.setInterval(frame_interval_ms);
  connect(&ticker_, &QTimer::timeout, this, &Session::poll);
  ticker_.start();
  connect(&insights_, &InsightCache::arrived, this, &Session::changed);
  start_limit_.setSingleShot(true);
  connect(&start_limit_, &QTimer::timeout, this, [this] {
    if (state_ != SessionState::starting) return;
    if (engine_) engine_->stop();
    fail(tr("The engine was started but has not answered for %1 s").arg(options_.start_limit_ms / 1000));
  });
}

Session::~Session() {
  pending_.feed.reset();
  feed_.reset();
  engine_.reset();
  endpoint_folder_.reset();
}

std::shared_ptr<const StoreView> Session::view() const {
  if (store_) return run_view_;
  if (prediction_ && prediction_->view) return prediction_->view;
  return empty_view_;
}

std::shared_ptr<const StoreView> Session::prediction() const {
  if (!store_) return nullptr;
  if (context_ && context_->forecast) return context_->forecast;
  return prediction_ ? prediction_->view : nullptr;
}

SourceLabel Session::label() const {
  if (!store_) return prediction_ && prediction_->view ? SourceLabel::simulated : SourceLabel::none;
  if (spec_.kind == SourceKind::trace) return is_forecast(*run_view_) ? SourceLabel::simulated : SourceLabel::recorded;
  const bool attached = spec_.connects();
  if (attached && run_view_->hello() == nullptr) return SourceLabel::none;
  if (detached_) return SourceLabel::detached;
  if (state_ == SessionState::ended || state_ == SessionState::failed) return SourceLabel::ended;
  return contact_ == Contact::good     ? SourceLabel::live
         : contact_ == Contact::silent ? SourceLabel::silent
                                       : SourceLabel::lost;
}

bool Session::active() const {
  return state_ == SessionState::starting || state_ == SessionState::running || state_ == SessionState::stopping;
}

bool Session::can_run() const {
  const bool idle = state_ == SessionState::ready || state_ == SessionState::ended || state_ == SessionState::failed;
  return idle && spec_.kind == SourceKind::scenario && file_scenario_ && refusal_.isEmpty();
}

bool Session::can_stop() const {
  return state_ == SessionState::starting || state_ == SessionState::running ||
         (state_ == SessionState::opening && spec_.kind != SourceKind::scenario);
}

QFileInfoList Session::recordings() const {
  if (options_.recordings_folder.isEmpty()) return {};
  return QDir(options_.recordings_folder).entryInfoList({QStringLiteral("*.mcap")}, QDir::Files, QDir::Time);
}

bool Session::settled() const { return predictor_.settled() && analyser_.settled() && insights_.settled(); }

void Session::set_state(SessionState state) {
  if (state == state_) return;
  state_ = state;
  emit state_changed();
}

void Session::fail(const QString& words) {
  failure_ = words;
  emit log(words, true);
  set_state(SessionState::failed);
}

void Session::leave() {
  start_limit_.stop();
  if (feed_) {
    feed_->disconnect(this);
    feed_.reset();
  }
  if (engine_) {
    // The window continues; the engine ends in the background and then removes itself.
    engine_->disconnect(this);
    EngineChild* child = engine_.release();
    if (child->running()) {
      child->setParent(this);
      connect(child, &EngineChild::ended, child, &QObject::deleteLater);
      child->stop();
    } else {
      child->deleteLater();
    }
  }
  endpoint_folder_.reset();
  ++run_number_;
  spec_ = {};
  scenario_.reset();
  file_scenario_.reset();
  edited_ = run_outdated_ = detached_ = false;
  contact_ = Contact::good;
  silent_s_ = 0;
  set_store(nullptr);
  prediction_.reset();
  context_.reset();
  insights_.set_context(nullptr);
  chosen_step_.reset();
  since_poll_.invalidate();
  since_analysis_.invalidate();
  for (QString* words : {&refusal_, &failure_, &outcome_, &damage_, &endpoint_, &recording_, &dismissal_})
    words->clear();
  progress_ = 0;
  progress_words_.clear();
  figures_.set(nullptr);
  emit left();
  emit scenario_changed();
  emit changed();
}

void Session::use_scenario(Scenario scenario, bool edited) {
  scenario_ = std::move(scenario);
  edited_ = edited;
  emit scenario_changed();
  // A plan that has not run is analysed immediately, so that its tables and pictures appear together.
  AnalysisRequest request;
  request.scenario = scenario_;
  request.step = chosen_step_;
  request.over = true;
  const bool whole = !store_ || run_outdated_;
  predictor_.request([request = std::move(request), whole]() mutable {
    PlanAnswer answer;
    answer.step = request.step;
    answer.prediction = std::make_shared<const Prediction>(predict(*request.scenario));
    request.prediction = answer.prediction;
    if (whole) answer.analysis = analyse(request);
    return answer;
  });
}

void Session::edit(const Scenario& scenario) {
  if (!scenario_ || spec_.kind != SourceKind::scenario || active()) return;
  emit plan_leaving();
  // The run was of another plan. Its picture stays until the new prediction is ready.
  run_outdated_ = store_ != nullptr;
  failure_.clear();
  outcome_.clear();
  use_scenario(scenario, !(scenario == *file_scenario_));
}

void Session::drop_run() {
  if (!std::exchange(run_outdated_, false)) return;
  set_store(nullptr);
  ++run_number_;
  recording_.clear();
}

void Session::revert() {
  if (file_scenario_) edit(Scenario(*file_scenario_));
}

void Session::on_plan_answer(PlanAnswer answer) {
  if (!scenario_ || !is_about(*answer.prediction, *scenario_)) return;  // another scenario was opened meanwhile
  drop_run();
  prediction_ = std::move(answer.prediction);
  refusal_ = QString::fromStdString(why_not_run(*prediction_));
  if (!refusal_.isEmpty() && spec_.kind == SourceKind::scenario) emit log(refusal_, true);
  const bool alone = !store_ && answer.analysis;
  if (alone) {
    context_ = answer.analysis->context;
    insights_.set_context(context_);
    figures_.set(answer.analysis->figures);
  }
  if (spec_.kind == SourceKind::scenario && !store_) {
    if (state_ == SessionState::ready) emit state_changed();  // what can be done may have changed
    set_state(SessionState::ready);
  }
  emit changed();
  if (!alone || answer.step != chosen_step_) request_figures();
}

SessionContent Session::content() const {
  SessionContent content{spec_,     state_,      scenario_, edited_,           store_,
                         run_view_, prediction_, context_,  figures_.latest(), previous_,
                         refusal_,  failure_,    outcome_,  recording_};
  if (run_view_ && run_view_->event_count() > most_kept_events) {
    content.store.reset();
    content.run_view.reset();
  }
  return content;
}

bool Session::restore(const SessionContent& content) {
  if (active() || content.spec != spec_ || !content.scenario || !content.prediction) return false;
  if (!is_about(*content.prediction, *content.scenario))
    return false;  // another plan was chosen before this one was predicted
  ++run_number_;
  set_store(nullptr);
  run_outdated_ = false;
  scenario_ = content.scenario;
  edited_ = content.edited;
  store_ = content.store;
  run_view_ = content.run_view;
  prediction_ = content.prediction;
  refusal_ = content.refusal;
  failure_ = content.failure;
  outcome_ = content.outcome;
  recording_ = content.recording;
  previous_ = content.previous;
  // If the run was too large to be kept, only its plan is restored.
  const bool whole = content.store || !content.figures || !content.figures->run;
  context_ = whole ? content.context : nullptr;
  seen_revision_ = analysed_revision_ = run_view_ ? run_view_->revision() : 0;
  insights_.set_context(context_);
  figures_.set(whole ? content.figures : nullptr);
  emit scenario_changed();
  state_ = store_ ? content.state : SessionState::ready;
  emit state_changed();
  emit run_left();
  emit changed();
  request_figures();
  return true;
}

void Session::choose_step(std::optional<std::uint32_t> step) {
  if (step == chosen_step_) return;
  chosen_step_ = step;
  const bool just_analysed = since_analysis_.isValid() && since_analysis_.elapsed() < analysis_interval_ms;
  if (store_ && state_ == SessionState::running && just_analysed)
    analysed_revision_ = 0;  // look() requests them after the interval
  else
    request_figures();
}

void Session::set_store(std::shared_ptr<RunStore> store) {
  if (store_) {
    run_view_ = store_->view();
    KeptRun left = kept_run(*this);
    if (left.run && left.run->hello() != nullptr && left.run->event_count() <= most_kept_events) {
      previous_ = std::move(left);
      emit run_left();
    }
  }
  store_ = std::move(store);
  run_view_ = store_ ? store_->view() : nullptr;
  loss_noticed_ = false;
  seen_revision_ = analysed_revision_ = 0;
}

void Session::poll() {
  look_at_opening();
  if (!store_) return;
  const bool reading = state_ == SessionState::opening;
  if (reading && since_poll_.isValid() && since_poll_.elapsed() < reading_frame_interval_ms) return;
  since_poll_.start();
  const int analysis_interval = reading ? reading_analysis_interval_ms : analysis_interval_ms;
  run_view_ = store_->view();
  if (run_view_->revision() == seen_revision_) {
    // The last events may have arrived within the interval after the last analysis.
    if (analysed_revision_ != seen_revision_ && since_analysis_.isValid() &&
        since_analysis_.elapsed() > analysis_interval)
      request_figures();
    return;
  }
  seen_revision_ = run_view_->revision();
  if (!scenario_ && run_view_->hello() != nullptr && !is_imported(*run_view_)) learn_scenario();
  notice_loss();
  emit changed();
  if (reading && !since_analysis_.isValid()) since_analysis_.start();
  if (!since_analysis_.isValid() || since_analysis_.elapsed() > analysis_interval) request_figures();
}

void Session::notice_loss() {
  const auto totals = run_view_->totals();
  if (loss_noticed_ || !totals || !totals->loss_not_finite_since) return;
  loss_noticed_ = true;
  emit log(tr("The loss is not finite since step %1").arg(*totals->loss_not_finite_since), true);
}

void Session::learn_scenario() {
  const Hello& hello = *run_view_->hello();
  if (is_imported(*run_view_)) {  // another program's: it has none
    scenario_.reset();
    emit scenario_changed();
    return;
  }
  try {
    use_scenario(parse_recorded_scenario(hello.scenario_toml), false);
  } catch (const ScenarioError& error) {
    // Only the prediction and the shares need it; the run is shown without it.
    Scenario bare;
    bare.title = hello.title;
    bare.plan.data = hello.ranks;
    scenario_ = bare;
    emit log(tr("No prediction: %1").arg(QString::fromUtf8(error.what())), true);
    emit scenario_changed();
  }
}

void Session::request_figures() {
  if (run_outdated_) return;  // the new plan's prediction brings its own figures
  since_analysis_.start();
  analysed_revision_ = seen_revision_;
  AnalysisRequest request;
  request.run_number = run_number_;
  if (store_) request.run = run_view_;
  request.scenario = scenario_;
  request.prediction = prediction_;
  request.known = context_;
  request.step = chosen_step_;
  request.over = state_ != SessionState::running && state_ != SessionState::stopping;
  analyser_.request([request = std::move(request)] { return analyse(request); });
}

void Session::on_analysis(const Analysis& analysis) {
  // The answer is about an earlier plan or run; that for the current one is still pending.
  if (analysis.run_number != run_number_ || analysis.context->prediction != prediction_) return;
  const bool another = !context_ || context_->run != analysis.context->run ||
                       context_->forecast != analysis.context->forecast ||
                       context_->prediction != analysis.context->prediction;
  if (another) {
    context_ = analysis.context;
    insights_.set_context(context_);
    emit changed();
  }
  figures_.set(analysis.figures);
}

}  // namespace rankscope::app
