// SPDX-License-Identifier: GPL-3.0-or-later
// Requests of a lesson to the window: show evidence, try a plan, run a command.
#include <QFileInfo>

#include "app/lesson/lab_panel.hpp"
#include "app/lesson/welcome_page.hpp"
#include "app/models/steps.hpp"
#include "app/shell/banner.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/manual.hpp"
#include "app/shell/status_line.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/compare/compare_view.hpp"
#include "app/views/experiments/experiments_view.hpp"
#include "app/views/formats/formats_view.hpp"
#include "app/views/memory/memory_view.hpp"
#include "app/views/puzzle/puzzle_view.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {
namespace {

const QString experiment_subject = QStringLiteral("experiment");

/// The setting for display: "micro_batches=16" for "plan.micro_batches=16".
QString without_table(const std::string& setting) {
  const QString words = QString::fromStdString(setting);
  const auto dot = words.indexOf(QLatin1Char('.')), equals = words.indexOf(QLatin1Char('='));
  return dot >= 0 && dot < equals ? words.mid(dot + 1) : words;
}

QString plan_name(const std::vector<std::string>& settings) {
  QStringList words;
  for (const std::string& setting : settings) words << without_table(setting);
  return words.isEmpty() ? MainWindow::tr("the lesson's plan") : words.join(QStringLiteral(", "));
}

/// The scenario in a command is the lesson's own.
bool is_own(const Experiment& experiment, const QString& file) {
  const QString named = QFileInfo(QString::fromStdString(experiment.scenario)).completeBaseName();
  return named.isEmpty() || named == QFileInfo(file).completeBaseName();
}

/// That op, or, if data are finer than its name, the first of its parts: a lesson names "the backward of micro-batch
/// 0", and a run has one span for each segment of each block.
std::optional<OpId> op_there(const StoreView& view, int rank, std::uint32_t step, OpId op, Obtained obtained) {
  if (view.find(rank, step, op, obtained)) return op;
  for (const Span& span : view.step_spans(obtained, step))
    if (span.rank == rank && (folded_to_chunk(span.op) == op || folded_to_block(span.op) == op)) return span.op;
  return std::nullopt;
}

}  // namespace

void MainWindow::make_lesson_actions() {
  experiments_ = static_cast<ExperimentsView*>(views_.at(QStringLiteral("experiments")));
  for (const std::string& refused : lab_->library().refused) add_log(QString::fromStdString(refused), true);
  connect(lab_, &LabPanel::evidence_wanted, this, &MainWindow::show_evidence);
  connect(lab_, &LabPanel::experiment_wanted, this, &MainWindow::try_experiment);
  connect(lab_, &LabPanel::log, this, &MainWindow::add_log);
  connect(&state_, &SharedState::selected_changed, lab_, [this] {
    lab_->point([selected = state_.selected()](Pointed& pointed) {
      pointed.op = selected ? std::optional(PointedOp{selected->rank, selected->op}) : std::nullopt;
      pointed.rank = selected ? std::optional(PointedRank{selected->rank}) : std::nullopt;
    });
  });
  connect(static_cast<PuzzleView*>(views_.at(QStringLiteral("puzzle"))), &PuzzleView::run_wanted, this,
          &MainWindow::run_order);
  connect(experiments_, &ExperimentsView::comparison_wanted, this, [this](const KeptRun& with) {
    workspace_->bring(compare_);
    compare_->compare_with(with);
  });
}

void MainWindow::make_welcome() {
  welcome_ = new WelcomePage(lab_->library(), lab_->book(), centre_);
  static_cast<QBoxLayout*>(centre_->layout())->insertWidget(2, welcome_, 1);
  welcome_->hide();
  connect(welcome_, &WelcomePage::lab_wanted, this, qOverload<const QString&>(&MainWindow::open));
  connect(welcome_, &WelcomePage::watch_wanted, this, qOverload<const QString&>(&MainWindow::open));
  connect(welcome_, &WelcomePage::continue_wanted, this, &MainWindow::open_again);
  connect(welcome_, &WelcomePage::open_wanted, this, &MainWindow::open_dialog);
  connect(welcome_, &WelcomePage::manual_wanted, this, [this] { show_manual(this); });
  connect(&session_, &Session::opened, this, [this] { set_welcome(false); });
}

void MainWindow::show_welcome() { set_welcome(true); }

bool MainWindow::welcomes() const { return welcome_->isVisibleTo(this); }

// The page and the covered widgets are never visible together, so a click reaches the visible one.
void MainWindow::set_welcome(bool shown) {
  if (shown) welcome_->refresh(last_source_name());
  welcome_->setVisible(shown);
  show_all(!shown, {workspace_, status_});
  if (shown) welcome_->focus_first();
}

void MainWindow::show_evidence(const Evidence& evidence) {
  QWidget* view = find_view(QString::fromStdString(evidence.view));
  if (view != nullptr) workspace_->bring(view);
  if (auto* data_view = qobject_cast<DataView*>(view)) data_view->show_inputs(evidence.inputs);
  const auto steps = session_.view();
  if (evidence.step) navigator_.show_step(static_cast<std::uint32_t>(*evidence.step));
  const std::int32_t rank = evidence.rank.value_or(0);
  if (evidence.rank) {
    timeline_->reveal(rank);
    static_cast<MemoryView*>(views_[QStringLiteral("memory")])->set_rank(rank);
  }
  const auto op = parse_token(evidence.op);
  if (!op) return;
  const auto step = state_.step() ? state_.step() : last_whole_step(*steps, state_.shown());
  const auto there = step ? op_there(*steps, rank, *step, *op, state_.shown()) : std::nullopt;
  if (!there) return;
  state_.set_selected_range({});
  state_.set_selected(SpanRef{rank, *step, *there, state_.shown()});
  state_.hold();
}

void MainWindow::try_experiment(const Experiment& experiment) {
  if (session_.spec().kind != SourceKind::scenario || session_.active()) return;
  const QString& file = session_.spec().text;
  const bool plan = experiment.command.empty() || experiment.command == "simulate" || experiment.command == "run";
  if (plan && is_own(experiment, file) && experiment.others.empty())
    return try_plan(experiment.settings, plan_name(experiment.settings), experiment.command == "run");
  QStringList arguments{QString::fromStdString(experiment.command)};
  if (!experiment.scenario.empty())
    arguments << (is_own(experiment, file) ? file : QString::fromStdString(experiment.scenario));
  for (const std::string& setting : experiment.settings)
    arguments << QStringLiteral("--set") << QString::fromStdString(setting);
  for (const std::string& other : experiment.others) arguments << QString::fromStdString(other);
  workspace_->bring(experiments_);
  experiments_->log().run_command(QString::fromStdString(experiment.line), arguments);
}

void MainWindow::run_order(const std::vector<std::string>& settings, const QString& name) {
  const auto refuse = [this](const QString& why) { banner_->show_message(experiment_subject, BannerKind::error, why); };
  if (session_.spec().kind != SourceKind::scenario) return refuse(tr("Open a scenario first: its model is trained."));
  if (session_.active()) return refuse(tr("A run is in progress. Stop it first, or wait for its end."));
  try_plan(settings, name, true);
}

void MainWindow::try_plan(const std::vector<std::string>& settings, const QString& name, bool run) {
  banner_->clear(experiment_subject);
  // The lesson's plan is also noted, to be compared with the changed one.
  if (!session_.edited()) experiments_->log().note_plan(plan_name({}));
  try {
    std::vector<Override> overrides;
    for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
    session_.edit(read_scenario(session_.spec().text.toStdString(), overrides));
  } catch (const ScenarioError& error) {
    const QString why = QString::fromUtf8(error.what());
    add_log(why, true);
    return banner_->show_message(experiment_subject, BannerKind::error, why);
  }
  workspace_->bring(experiments_);
  experiments_->log().note_plan(name);
  if (run) run_once_predicted();
}

// By then a refusal is known. If another plan was selected meanwhile, it is not run.
void MainWindow::run_once_predicted() {
  const auto is_predicted = [this, requested = session_.scenario()] {
    return session_.predicted() && session_.predicted()->scenario == requested;
  };
  if (is_predicted()) return session_.run();
  auto* once = new QObject(this);
  connect(&session_, &Session::state_changed, once, [this, once, is_predicted, requested = session_.scenario()] {
    const bool left = session_.scenario() != requested;
    if (!left && !is_predicted()) return;
    disconnect(&session_, nullptr, once, nullptr);
    once->deleteLater();
    if (!left) session_.run();
  });
}

}  // namespace rankscope::app
