// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/scaling/scaling_view.hpp"

#include <QDateTime>
#include <QDir>
#include <QFileDialog>
#include <QHeaderView>
#include <QPainter>
#include <algorithm>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/facts/sweep_file.hpp"

namespace rankscope::app {
namespace {

constexpr int control_height = 30, line = 18, least_plot = 180, least_choice = 90;
constexpr int preferred_height = 440;                        ///< with the table
constexpr int least_for_table = 330, least_for_words = 220;  ///< heights: the charts are hidden before them
constexpr int most_predicted_ranks = 4096, most_measured_ranks = 8;
constexpr int measured_steps = 12;  ///< of each point: enough for a median without the first
const char* const keys[] = {"plan.data", "plan.tensor", "plan.pipeline"};

/// Identifies a run's costs and how many of its programs have arrived; empty if nothing ran.
QString name_of_costs(const Session& session, const Figures& figures) {
  const std::shared_ptr<const StoreView> run = session.view();
  if (!figures.run || !figures.context || run->hello() == nullptr || run->steps(Obtained::simulated).empty()) return {};
  const Hello& hello = *run->hello();
  int programs = 0;
  for (int rank = 0; rank < hello.ranks; ++rank) programs += run->program(rank) != nullptr;
  return QStringLiteral("%1 %2 %3 %4")
      .arg(QString::fromStdString(hello.started_utc), QString::fromStdString(hello.title))
      .arg(programs)
      .arg(run->extent(Obtained::simulated).end_ns);
}

ScalingCurves failed(const QString& why) {
  ScalingCurves none;
  none.failure = why;
  return none;
}

}  // namespace

bool is_sweep_file(const QString& file) {
  try {
    return is_sweep(file.toStdString());
  } catch (const std::exception&) {
    return false;  // the error is reported when it is opened
  }
}

ScalingView::ScalingView(SharedState& state, Session& session, QWidget* parent)
    : DataView(state, session, parent),
      session_(session),
      what_(new QComboBox(this)),
      key_(new QComboBox(this)),
      how_(new QComboBox(this)),
      measure_(new QPushButton(this)),
      open_(new QPushButton(this)),
      formula_(new ElidedLabel(this)),
      source_(new ElidedLabel(this)),
      charts_{new PlotChart(this), new PlotChart(this)},
      table_(new RowsTable({}, reason_column + 1, tr("Scaling by number of ranks"), this)),
      latest_([this](ScalingCurves curves) { take_curves(std::move(curves)); }),
      tables_([this](std::vector<PublishedTable> tables) {
        published_ = std::move(tables);
        fill_choices();
      }) {
  setProperty(preferred_height_property, preferred_height);
  setMouseTracking(true);
  make_controls();
  connect(&session, &Session::scenario_changed, this, [this] {
    if (what() == What::plan) renew();
  });
  connect(&session.figures(), &FiguresModel::changed, this, &ScalingView::take_figures);
  connect(&session, &Session::state_changed, this, &ScalingView::arrange);
}

ScalingView::~ScalingView() = default;

void ScalingView::make_controls() {
  what_->setAccessibleName(tr("What is scaled"));
  key_->setAccessibleName(tr("What grows"));
  how_->setAccessibleName(tr("Strong or weak"));
  for (const char* key : keys) key_->addItem(QLatin1String(key));
  for (const Scaling scaling : {Scaling::strong, Scaling::weak}) how_->addItem(text::words(name_of(scaling)));
  how_->setToolTip(tr("Strong: the global batch is constant. Weak: it grows with the ranks."));
  open_->setText(tr("Open a sweep…"));
  open_->setToolTip(tr("A recording of rankscope-engine sweep --record"));
  table_->setWordWrap(true);
  fill_choices();
  connect(what_, &QComboBox::activated, this, [this] {
    if (what() == What::sweep && sweep_file_.isEmpty()) return choose_file();
    renew();
  });
  for (QComboBox* box : {key_, how_}) connect(box, &QComboBox::currentIndexChanged, this, &ScalingView::renew);
  connect(open_, &QPushButton::clicked, this, &ScalingView::choose_file);
  connect(measure_, &QPushButton::clicked, this, [this] { measuring() ? stop_measuring() : measure(); });
  take_curves({});
}

void ScalingView::fill_choices() {
  const int now = what_->currentIndex();
  const QSignalBlocker quiet(what_);
  what_->clear();
  what_->addItem(tr("this plan"));
  what_->addItem(sweep_file_.isEmpty() ? tr("a sweep…") : QFileInfo(sweep_file_).fileName());
  for (const PublishedTable& table : published_) what_->addItem(QString::fromStdString(table.title));
  what_->setCurrentIndex(std::max(0, now));
}

ScalingView::What ScalingView::what() const {
  return what_->currentIndex() <= 0 ? What::plan : what_->currentIndex() == 1 ? What::sweep : What::published;
}

void ScalingView::choose(const QString& key, Scaling scaling) {
  what_->setCurrentIndex(0);
  key_->setCurrentText(key);
  how_->setCurrentIndex(scaling == Scaling::strong ? 0 : 1);
  renew();
}

void ScalingView::open_sweep(const QString& file) {
  sweep_file_ = file;
  fill_choices();
  what_->setCurrentIndex(1);
  renew();
}

void ScalingView::choose_file() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Open a sweep"), {}, tr("Sweeps (*.mcap)"));
  if (!file.isEmpty())
    open_sweep(file);
  else if (sweep_file_.isEmpty())
    what_->setCurrentIndex(0);
}

void ScalingView::renew() {
  stale_ = true;
  refresh();
}

void ScalingView::refresh() {
  if (!isVisible() || !stale_) return;
  stale_ = false;
  if (!asked_for_tables_) {
    asked_for_tables_ = true;
    tables_.request([] {
      std::vector<PublishedTable> tables;
      try {
        tables = read_all_published();
      } catch (const ScenarioError&) {
        return tables;  // none is installed: the list is shorter
      }
      std::erase_if(tables, [](const PublishedTable& table) { return !can_be_scaled(table); });
      return tables;
    });
  }
  switch (what()) {
    case What::plan: {
      if (!session_.scenario()) return take_curves({});
      const std::shared_ptr<const Figures> figures = session_.figures().latest();
      costs_source_ = name_of_costs(session_, *figures);
      latest_.request([scenario = *session_.scenario(), key = key_->currentText().toStdString(),
                       scaling = how_->currentIndex() == 0 ? Scaling::strong : Scaling::weak,
                       run = costs_source_.isEmpty() ? nullptr : session_.view(), context = figures->context] {
        CostSource costs;
        if (run) try {
            costs.run = costs_of_run(*run, *context);
            costs.host = QString::fromStdString(run->hello()->host);
          } catch (const std::exception&) {
            costs.run.reset();  // the cluster lacks a figure: each point reports it
          }
        return predicted_curves(scenario, key, scaling, most_predicted_ranks, costs);
      });
      return;
    }
    case What::sweep:
      latest_.request([file = sweep_file_] {
        try {
          return curves_of(read_sweep(file.toStdString()));
        } catch (const std::exception& error) {
          return failed(QString::fromUtf8(error.what()));
        }
      });
      return;
    case What::published: {
      const auto at = static_cast<std::size_t>(what_->currentIndex() - 2);
      if (at < published_.size()) latest_.request([table = published_[at]] { return curves_of(table); });
      return;
    }
  }
}

// The run's figures grow during the run; its costs arrive once, before its first step.
void ScalingView::take_figures() {
  if (what() != What::plan) return;
  const Figures& figures = *session_.figures().latest();
  if (name_of_costs(session_, figures) != costs_source_)
    renew();
  else if (figures.run)
    take_curves(bare_);
}

void ScalingView::take_curves(ScalingCurves curves) {
  bare_ = std::move(curves);
  const Figures& figures = *session_.figures().latest();
  curves_ = what() == What::plan && figures.run ? with_run(bare_, *figures.run) : bare_;
  table_->set_titles(scaling_titles(curves_));
  table_->set_rows(scaling_rows(curves_));
  formula_->set_text(curves_.formula);
  source_->set_text(curves_.source);
  show_plots();
  arrange();
  update();
}

void ScalingView::measure() {
  if (!session_.can_run() || measuring()) return;
  const QString program = session_.engine_program();
  const std::string key = key_->currentText().toStdString();
  QDir folder(session_.recordings_folder().isEmpty() ? QDir::tempPath() : session_.recordings_folder());
  folder.mkpath(QStringLiteral("."));
  measured_file_ = folder.filePath(
      QStringLiteral("sweep-%1.mcap").arg(QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"))));
  QStringList arguments{QStringLiteral("sweep"),    session_.spec().text,
                        QStringLiteral("--over"),   sweep_axis(key, most_measured_ranks),
                        QStringLiteral("--steps"),  QString::number(measured_steps),
                        QStringLiteral("--record"), measured_file_};
  if (how_->currentIndex() == 1) arguments << QStringLiteral("--weak");
  arguments << session_.overrides({key, "train.steps"});
  progress_ = tr("Measuring on 1, 2, 4, … ranks");
  engine_ = std::make_unique<EngineChild>(EngineCommand{program, arguments});
  connect(engine_.get(), &EngineChild::line, this, [this](const QString& words, bool error) {
    emit log(words, error);
    if (!error) return;
    progress_ = words;  // the engine reports each point on standard error
    update();
  });
  connect(engine_.get(), &EngineChild::ended, this,
          [this](bool ok, int, const QString& reason) { take_measured(ok, reason); });
  emit log(program + QLatin1Char(' ') + arguments.join(QLatin1Char(' ')), false);
  engine_->start();
  arrange();
  update();
}

void ScalingView::stop_measuring() {
  if (engine_) engine_->stop();
}

void ScalingView::take_measured(bool ok, const QString& reason) {
  engine_.release()->deleteLater();  // it is the caller
  progress_.clear();
  if (!ok) emit log(reason, true);
  // Points that were measured before one failed, or before it was stopped, are in the file.
  if (QFileInfo::exists(measured_file_))
    open_sweep(measured_file_);
  else
    take_curves(failed(reason));
}

void ScalingView::show_plots() {
  const auto shown = plots();
  for (std::size_t i = 0; i < shown.size(); ++i) charts_[i]->show_plot(shown[i]);
}

void ScalingView::arrange() {
  int x = view_margin;
  const bool plan = what() == What::plan;
  measure_->setText(measuring() ? tr("Stop measuring") : tr("Measure"));
  const bool can = measuring() || session_.can_run();
  measure_->setToolTip(
      can ? tr("Run this plan on 1, 2, 4 and 8 ranks, %1 steps each, and draw the measured values over "
               "the curves")
                .arg(measured_steps)
          : tr("Nothing to run: open a scenario that can run, not a recording, and wait until its run "
               "has ended"));
  measure_->setEnabled(can);
  const std::array<QWidget*, 5> parts{what_, key_, how_, measure_, open_};
  int others = 0;
  for (QWidget* part : parts) {
    const bool of_plan = part == key_ || part == how_ || part == measure_;
    part->setVisible(!veiled() && (plan || !of_plan));
    if (part->isVisibleTo(this) && part != what_) others += part->sizeHint().width() + 8;
  }
  for (QWidget* part : parts) {
    if (!part->isVisibleTo(this)) continue;
    int wide = part->sizeHint().width();
    // Titles of published tables are long: the list is narrower than its titles if the other controls need the space.
    if (part == what_)
      wide = std::clamp(width() - 2 * view_margin - others, std::min(wide, least_choice), std::min(wide, 320));
    // The list also offers a sweep.
    if (part == open_ && x + wide > width() - view_margin) {
      part->hide();
      continue;
    }
    part->setGeometry(x, 4, wide, control_height);
    x += wide + 8;
  }
  const bool there = !curves_.points.empty() && curves_.failure.isEmpty() && !veiled();
  formula_->setGeometry(view_margin, control_height + 8, width() - 2 * view_margin, line);
  source_->setGeometry(view_margin, control_height + 8 + line, width() - 2 * view_margin, line);
  const int below = table_height();
  table_->setGeometry(cell_inset, height() - below - 4, width() - view_margin - cell_inset, below);
  show_all(there && height() >= least_for_words, {formula_, source_});
  table_->setVisible(there && height() >= least_for_table);
  const int top = control_height + (height() >= least_for_words ? 2 * line : 0) + 12;
  const int high = (height() >= least_for_table ? table_->y() : height()) - top - 4;
  const int wide = (width() - 3 * view_margin) / 2;
  for (int i = 0; i < 2; ++i) {
    charts_[static_cast<std::size_t>(i)]->setGeometry(view_margin + i * (wide + view_margin), top, wide, high);
    charts_[static_cast<std::size_t>(i)]->setVisible(there && !measuring());
  }
}

/// As many complete rows as the charts leave space for.
int ScalingView::table_height() {
  table_->resize(width() - view_margin - cell_inset, table_->height());
  QHeaderView& header = *table_->horizontalHeader();
  header.setMinimumSectionSize(8);  // the reasons' column is often empty
  if (rows().columnCount() > reason_column) header.setSectionResizeMode(reason_column, QHeaderView::Stretch);
  fit_rows(*table_);
  // A refusal replaces all figures, on as many lines as it needs there.
  table_->clearSpans();
  for (int row = 0; row < rows().rowCount(); ++row) {
    if (!curves_.points[static_cast<std::size_t>(row)].refused()) continue;
    table_->setSpan(row, reason_column, 1, rows().columnCount() - reason_column);
    const int wide = table_->viewport()->width() - header.sectionPosition(reason_column) - 2 * cell_padding;
    const QRect needed = table_->fontMetrics().boundingRect(QRect(0, 0, std::max(wide, 80), 10'000), Qt::TextWordWrap,
                                                            rows().words(row, reason_column));
    table_->setRowHeight(row, std::max(table_->verticalHeader()->defaultSectionSize(), needed.height() + 10));
  }
  return height_of_whole_rows(*table_, height() - control_height - 2 * line - 16 - least_plot);
}

void ScalingView::paint(QPainter& painter) {
  const QRectF below(0, control_height + 8, width(), height() - control_height - 8);
  if (measuring()) return paint_empty(painter, below, colours(), tr("The engine is measuring"), progress_);
  if (!curves_.failure.isEmpty())
    return paint_empty(painter, below, colours(), tr("Nothing to scale here"), curves_.failure);
  if (curves_.points.empty())
    return paint_empty(painter, below, colours(), latest_.settled() ? tr("No plan is open") : tr("Predicting…"),
                       tr("Open a scenario to predict its plan on 1, 2, 4, … ranks, or open a sweep recorded by "
                          "rankscope-engine, or choose published results."));
}

}  // namespace rankscope::app
