// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/other_run.hpp"

#include <QFileInfo>
#include <QTime>

#include "app/session/figures.hpp"
#include "app/session/session.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {

KeptRun kept_run(const Session& session) {
  KeptRun kept;
  // A recorded prediction is kept as a run. The session's own prediction is kept separately below.
  const bool ran = session.spec().kind == SourceKind::trace ||
                   (session.label() != SourceLabel::none && session.label() != SourceLabel::simulated);
  if (ran && session.view()->event_count() > 0) kept.run = session.view();
  kept.prediction = session.predicted();
  if (kept.prediction && !kept.prediction->view) kept.prediction.reset();
  if (!kept.there()) return kept;
  const QString title = session.scenario() ? QString::fromStdString(session.scenario()->title) : QString();
  const QString how = kept.run ? QTime::currentTime().toString(QStringLiteral("HH:mm:ss")) : OtherRun::tr("predicted");
  kept.name = title.isEmpty() ? how : OtherRun::tr("%1, %2").arg(title, how);
  return kept;
}

OtherRun::OtherRun(QObject* parent)
    : SnapshotSource(parent), empty_view_(RunStore().view()), analyser_([this](const Analysis& analysis) {
        if (analysis.run_number != number_) return;
        if (!context_ || context_->run != analysis.context->run) {
          context_ = analysis.context;
          insights_.set_context(context_);
          emit changed();
        }
        figures_.set(analysis.figures);
      }) {
  connect(&insights_, &InsightCache::arrived, this, &OtherRun::changed);
}

OtherRun::~OtherRun() = default;

std::shared_ptr<const StoreView> OtherRun::view() const { return view_ ? view_ : empty_view_; }

Obtained OtherRun::obtained() const { return headline_of(*view()); }

void OtherRun::leave() {
  if (feed_) {
    feed_->disconnect(this);
    feed_->stop();
    feed_.reset();
  }
  ++number_;
  store_.reset();
  view_.reset();
  prediction_.reset();
  context_.reset();
  insights_.set_context(nullptr);
  step_.reset();
  name_.clear();
  failure_.clear();
  progress_ = 0;
  figures_.set(nullptr);
}

void OtherRun::close() {
  leave();
  emit state_changed();
  emit changed();
}

void OtherRun::keep(const KeptRun& kept) {
  leave();
  name_ = kept.name;
  // A run contains its own prediction. The plan's prediction may already belong to another run.
  view_ = kept.run ? kept.run : kept.prediction ? kept.prediction->view : nullptr;
  if (!kept.run) prediction_ = kept.prediction;
  emit state_changed();
  emit changed();
  request_figures();
}

void OtherRun::open(const QString& trace) {
  leave();
  name_ = QFileInfo(trace).fileName();
  try {
    const SourceSpec spec = classify_source(trace);
    if (spec.kind != SourceKind::trace)
      throw SourceError(trace.toStdString() + ": no recording; only completed runs can be compared");
    store_ = std::make_shared<RunStore>();
    feed_ = make_feed(spec, store_);
    connect(feed_.get(), &Feed::progress, this, [this](double share, const QString&) {
      progress_ = share;
      emit state_changed();
    });
    connect(feed_.get(), &Feed::ended, this, &OtherRun::take_read);
    feed_->start();
  } catch (const SourceError& error) {
    failure_ = QString::fromUtf8(error.what());
  }
  emit state_changed();
  emit changed();
}

void OtherRun::take_read(bool ok, const QString& words) {
  failure_ = words;                // also of a damaged file of which a part was read
  feed_.release()->deleteLater();  // it is the caller
  if (ok && store_->view()->hello() != nullptr)
    view_ = store_->view();
  else if (failure_.isEmpty())
    failure_ = tr("%1 contains no run").arg(name_);
  store_.reset();
  emit state_changed();
  emit changed();
  if (view_) request_figures();
}

void OtherRun::choose_step(std::optional<std::uint32_t> step) {
  if (step == step_) return;
  step_ = step;
  if (view_) request_figures();
}

void OtherRun::request_figures() {
  AnalysisRequest request;
  request.run_number = number_;
  if (!prediction_) request.run = view_;
  request.prediction = prediction_;
  request.known = context_;
  request.step = step_;
  request.over = true;
  try {
    if (const Hello* hello = view_->hello()) request.scenario = parse_recorded_scenario(hello->scenario_toml);
  } catch (const ScenarioError&) {
    // Only tokens per second need the scenario.
  }
  analyser_.request([request = std::move(request)] { return analyse(request); });
}

}  // namespace rankscope::app
