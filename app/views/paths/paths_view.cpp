// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/paths/paths_view.hpp"

#include <QAbstractItemView>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>
#include <algorithm>
#include <array>
#include <set>

#include "app/views/common/parts.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/paths/optimizer_marker.hpp"

namespace rankscope::app {
namespace {

constexpr int patience_ms = 120;
constexpr int control_height = 28, control_gap = 8, line = 18, player_height = 36;
constexpr int side_least = 330, side_most = 660, picture_least = 300;
constexpr int side_good = 512, picture_good = 500;  ///< enough for all important content
constexpr int preferred_height = 350;
constexpr int least_plot = 150, least_picture = 130, check_and_mark = 44, scroll_bar = 12;
constexpr double lowest_drawn = 1e-15;  ///< of the start's height: below it there may be only rounding errors

}  // namespace

PathsView::PathsView(SharedState& state, SnapshotSource& source, PathCache& cache, QWidget* parent)
    : DataView(state, source, parent),
      cache_(cache),
      surfaces_(new QComboBox(this)),
      condition_(new QDoubleSpinBox(this)),
      noise_(new QDoubleSpinBox(this)),
      steps_(new QSpinBox(this)),
      reset_(new QPushButton(tr("Reset"), this)),
      formula_(new ElidedLabel(this)),
      source_(new ElidedLabel(this)),
      picture_(new SurfacePicture(this)),
      player_(new PathPlayer(this)),
      table_(new QTableView(this)),
      chart_(new PlotChart(this)) {
  setProperty(plays_property, true);
  setProperty(preferred_height_property, preferred_height);
  setFocusPolicy(Qt::StrongFocus);
  make_controls();
  set_up_table(*table_, tr("Optimizers"));
  table_->setModel(&model_);
  table_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                          QAbstractItemView::AnyKeyPressed);
  table_->setSelectionBehavior(QAbstractItemView::SelectItems);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->installEventFilter(this);
  picture_->installEventFilter(this);
  set_up_pause(patience_, patience_ms, this, &PathsView::ask);
  connect(&cache_, &PathCache::changed, this, &PathsView::take_answer);
  connect(player_, &PathPlayer::step_changed, this, &PathsView::take_step);
  connect(picture_, &SurfacePicture::start_wanted, this, [this](Point start) {
    chosen().start = start;
    ask();
  });
  connect(&model_, &PathsModel::drawn_changed, this, [this] {
    picture_->set_drawn(model_.drawn());
    arrange();
    update();
  });
  connect(&model_, &PathsModel::rate_wanted, this, [this](const std::string& optimizer, double rate) {
    chosen().rates[optimizer] = rate;
    ask();
  });
  picture_->set_drawn(model_.drawn());
  show_chosen();
}

void PathsView::make_controls() {
  surfaces_->setAccessibleName(tr("Surface"));
  for (const std::string& name : surface_names())
    surfaces_->addItem(QString::fromStdString(make_surface(name).title), QString::fromStdString(name));
  condition_->setAccessibleName(tr("Condition number of the ravine"));
  condition_->setToolTip(tr("Condition number: largest curvature divided by the smallest"));
  condition_->setPrefix(tr("κ "));
  condition_->setRange(least_condition, 1e4);
  condition_->setDecimals(0);
  condition_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
  noise_->setAccessibleName(tr("Noise of gradients"));
  noise_->setToolTip(
      tr("Standard deviation of the noise in each component of a gradient, the same for all optimizers"));
  noise_->setPrefix(tr("noise "));
  noise_->setRange(0, 100);
  noise_->setDecimals(2);
  noise_->setSingleStep(0.1);
  steps_->setAccessibleName(tr("Steps"));
  steps_->setSuffix(tr(" steps"));
  steps_->setRange(1, 5000);
  steps_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
  reset_->setToolTip(tr("Default rates, start, steps and noise of this surface"));
  for (QAbstractSpinBox* box : {static_cast<QAbstractSpinBox*>(condition_), static_cast<QAbstractSpinBox*>(noise_),
                                static_cast<QAbstractSpinBox*>(steps_)}) {
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    box->setKeyboardTracking(false);
    box->setFont(number_font());
  }
  source_->set_text(own_source());
  connect(surfaces_, &QComboBox::currentIndexChanged, this, [this] {
    show_chosen();
    ask();
  });
  connect(condition_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
    chosen().condition = value;
    ask_soon();
  });
  connect(noise_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
    chosen().noise = value;
    ask_soon();
  });
  connect(steps_, &QSpinBox::valueChanged, this, [this](int value) {
    chosen().steps = value;
    ask_soon();
  });
  connect(reset_, &QPushButton::clicked, this, [this] {
    chosen() = {};
    show_chosen();
    ask();
  });
}

std::string PathsView::surface_name() const { return surfaces_->currentData().toString().toStdString(); }

void PathsView::take_colours() {
  model_.set_theme(colours().theme);
  show_plot();
}

QString PathsView::own_source() const {
  return tr("computed by the engine's optimizers in fp64 on two numbers; no model is trained");
}

bool PathsView::settled() const { return !patience_.isActive() && cache_.settled() && picture_->settled(); }

PathRequest PathsView::request() const {
  PathRequest request;
  request.surface = surface_name();
  const auto found = chosen_.find(request.surface);
  if (found == chosen_.end()) return request;
  const Chosen& chosen = found->second;
  request.condition = chosen.condition;
  request.rates = chosen.rates;
  request.start = chosen.start;
  request.steps = chosen.steps;
  request.noise = chosen.noise;
  request.settings = chosen.settings;
  return request;
}

void PathsView::show_request(const PathRequest& request) {
  Chosen& chosen = chosen_[request.surface];
  chosen = {request.rates, request.start, request.steps, request.noise, request.condition, request.settings};
  if (!request.optimizers.empty()) model_.set_drawn({request.optimizers.begin(), request.optimizers.end()});
  const QSignalBlocker quiet(surfaces_);
  surfaces_->setCurrentIndex(surfaces_->findData(QString::fromStdString(request.surface)));
  show_chosen();
  ask();
}

// The fields show the choices for the current surface.
void PathsView::show_chosen() {
  const Chosen& now = chosen();
  const Surface surface = make_surface(surface_name(), now.condition);
  const QSignalBlocker quiet_condition(condition_), quiet_noise(noise_), quiet_steps(steps_);
  condition_->setValue(now.condition);
  noise_->setValue(now.noise);
  steps_->setValue(now.steps > 0 ? now.steps : surface.steps);
  arrange();
}

void PathsView::ask_soon() { patience_.start(); }

void PathsView::ask() {
  patience_.stop();
  // While a window opens, all views are shown for a moment; those behind other tabs are then hidden again.
  if (!isVisible()) return;
  take_answer();
}

// The old paths are shown until the new ones are computed.
void PathsView::take_answer() {
  if (!isVisible() || patience_.isActive()) return;
  const PathRequest requested = request();
  const auto paths = cache_.get(requested);
  failure_ = cache_.failure(requested);
  if (paths == nullptr && failure_.isEmpty()) {
    if (paths_ == nullptr) picture_->show_paths(nullptr, {});
    return;
  }
  if (paths == paths_ && failure_.isEmpty()) return;
  paths_ = paths;
  picture_->show_paths(paths_, failure_);
  model_.set_paths(paths_);
  player_->set_steps(paths_ ? paths_->request.steps : 0);
  take_step(player_->step());
  if (paths_) {
    const Surface surface = make_surface(paths_->request.surface, paths_->request.condition);
    formula_->set_text(
        QStringLiteral("f(x, y) = ") + QString::fromStdString(surface.formula) +
        (surface.source.empty() ? QString() : QStringLiteral(" · ") + QString::fromStdString(surface.source)));
  }
  arrange();
  update();
}

void PathsView::take_step(int step) {
  picture_->set_step(step);
  model_.set_step(step);
  show_plot();
}

// Controls at the top; at the left the picture with its player, at the right the loss and under it the table. A narrow
// view has the picture only. A low view has no loss chart, and a very low one no player: keys do the same.
void PathsView::arrange() {
  const bool shown = !veiled();
  int x = view_margin;
  const auto place = [&](QWidget* control, int wide, bool there) {
    control->setVisible(shown && there);
    if (!there) return;
    control->setGeometry(x, 6, wide, control_height);
    x += wide + control_gap;
  };
  constexpr int list_wide = 172, list_least = 100, condition_wide = 84, least_reset = 84;
  const int steps_wide = width_of_box(*steps_, 104), noise_wide = width_of_box(*noise_, 112),
            reset_width = std::max(least_reset, reset_->sizeHint().width());
  const bool has_condition = make_surface(surface_name()).has_condition;
  const int others = (has_condition ? condition_wide + control_gap : 0) + steps_wide + noise_wide + 2 * control_gap;
  // In a narrow view the list of surfaces becomes narrower, not the numbers.
  place(surfaces_, std::clamp(width() - 2 * view_margin - others, list_least, list_wide), true);
  place(condition_, condition_wide, has_condition);
  place(steps_, steps_wide, true);
  place(noise_, noise_wide, true);
  place(reset_, reset_width, x + reset_width + view_margin <= width());
  formula_->setGeometry(x + 4, 6, std::max(0, width() - x - view_margin - 4), control_height);
  formula_->setVisible(shown && width() - x > 160);
  // A presented view has the source in its heading.
  source_->setVisible(shown && !presents());
  source_->setGeometry(view_margin, 6 + control_height + 2, width() - 2 * view_margin, line);

  const int upper = 6 + control_height + 4 + (presents() ? 0 : line + 2);
  const bool two = width() >= picture_least + side_least;
  const int requested = std::max(width() * 47 / 100, std::min(side_good, width() - picture_good));
  const int side = two ? std::clamp(requested, side_least, std::min(side_most, width() - picture_least)) : 0;
  const int wide = width() - side;
  const bool plays = height() - upper - player_height >= least_picture;
  picture_->setVisible(shown);
  player_->setVisible(shown && plays);
  table_->setVisible(shown && two);
  picture_->setGeometry(0, upper, wide, std::max(0, height() - upper - (plays ? player_height : 0)));
  player_->setGeometry(0, height() - player_height, wide, player_height);
  if (!two) return show_plot();
  table_->resize(side - cell_inset, table_->height());
  const int room = height() - upper - 6;
  const int all = height_of_whole_rows(*table_, room);
  const bool scrolls = all < height_of_whole_rows(*table_, 10'000);
  fit_columns(side - cell_inset - (scrolls ? scroll_bar : 0));
  table_->setGeometry(wide, height() - all - 6, side - cell_inset, all);
  show_plot();
}

// Columns are as wide as their longest possible text, so that nothing moves while it plays. If they do not fit, the
// least important ones are hidden first. The remaining width is given to the last column but one.
void PathsView::fit_columns(int room) {
  const QFontMetrics words(table_->font()), numbers(number_font());
  std::array<int, PathsModel::column_count> widths{};
  int all = 0;
  for (int column = 0; column < PathsModel::column_count; ++column) {
    const int head = words.horizontalAdvance(model_.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
    int widest = 0;
    for (const QString& sample : PathsModel::longest_words(column))
      widest = std::max(widest, numbers.horizontalAdvance(sample));
    const int mark = column == PathsModel::optimizer ? check_and_mark : 0;
    const int wide = std::max(head, widest + mark) + 2 * cell_padding;
    widths[static_cast<std::size_t>(column)] = wide;
    all += wide;
  }
  std::set<int> hidden;
  for (const int column : {PathsModel::last_step, PathsModel::distance, PathsModel::state, PathsModel::reached}) {
    if (all <= room) break;
    hidden.insert(column);
    all -= widths[static_cast<std::size_t>(column)];
  }
  widths[hidden.count(PathsModel::reached) > 0 ? PathsModel::optimizer : PathsModel::reached] +=
      std::max(0, room - all);
  for (int column = 0; column < PathsModel::column_count; ++column) {
    table_->setColumnHidden(column, hidden.count(column) > 0);
    if (hidden.count(column) == 0) table_->setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
  }
}

QRectF PathsView::plot_area() const {
  if (table_->isHidden()) return {};
  const double upper = picture_->y(), room = table_->y() - upper - 10;
  return room < least_plot ? QRectF() : QRectF(table_->x(), upper, table_->width(), room);
}

Plot PathsView::plot() const {
  Plot plot;
  if (!paths_) return plot;
  const Surface surface = make_surface(paths_->request.surface, paths_->request.condition);
  plot.title = tr("Loss above the minimum, by step");
  plot.x = {false, 0.0, static_cast<double>(paths_->request.steps), {}, {}, tr("step")};
  plot.y.logarithmic = true;
  plot.y.words = [](double value) {
    return value < 1e-3 || value >= 1e5 ? QString::number(value, 'e', 0) : QString::number(value, 'g', 4);
  };
  const double start = surface.value(paths_->request.start.value_or(surface.start)) - surface.least;
  const double lowest = start > 0 ? lowest_drawn * start : lowest_drawn;
  double low = start, high = start;
  bool cut = false;
  for (const OptimizerPath& path : paths_->each) {
    if (model_.drawn().count(path.optimizer) == 0) continue;
    PlotSeries series{
        QString::fromStdString(path.optimizer), PlotSeries::Mark::line, colour_of(path.optimizer, colours()), {}};
    for (std::size_t t = 0; t < path.losses.size(); ++t) {
      const double above = std::max(path.losses[t] - surface.least, lowest);
      cut |= above > path.losses[t] - surface.least;
      series.points.push_back({static_cast<double>(t), above, 0, 0, {}});
      low = std::min(low, above);
      high = std::max(high, above);
    }
    plot.series.push_back(std::move(series));
  }
  if (cut)
    plot.title =
        tr("Loss above the minimum, by step; values below %1 are drawn at %1").arg(QString::number(lowest, 'g', 1));
  plot.y.low = low / 1.5;
  plot.y.high = high * 1.5;
  const double now = player_->step();
  plot.series.push_back({{},
                         PlotSeries::Mark::line,
                         mixed(colours().ground, colours().text, 0.35F),
                         {{now, *plot.y.low, 0, 0, {}}, {now, *plot.y.high, 0, 0, {}}}});
  for (const OptimizerPath& path : paths_->each) {
    if (model_.drawn().count(path.optimizer) == 0) continue;
    const int t = std::min(player_->step(), path.steps());
    const double above = std::max(path.losses[static_cast<std::size_t>(t)] - surface.least, lowest);
    plot.series.push_back({{},
                           PlotSeries::Mark::dots,
                           colour_of(path.optimizer, colours()),
                           {{static_cast<double>(t), above, 0, 0, {}}}});
  }
  return plot;
}

void PathsView::show_plot() {
  chart_->setVisible(!veiled() && paths_ && !plot_area().isEmpty() && !model_.drawn().empty());
  chart_->setGeometry(plot_area().toRect());
  if (chart_->isVisibleTo(this)) chart_->show_plot(plot());
}

void PathsView::paint(QPainter& painter) {
  if (const QRectF area = plot_area(); !area.isEmpty() && paths_ && model_.drawn().empty())
    paint_empty(painter, area, colours(), tr("No optimizer is ticked"), tr("Tick one in the table below."));
}

void PathsView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Space: return player_->set_playing(!player_->playing());
    case Qt::Key_Period: return player_->step_by(+1);
    case Qt::Key_Comma: return player_->step_by(-1);
    case Qt::Key_Home: player_->set_playing(false); return player_->set_step(0);
    case Qt::Key_End: player_->set_playing(false); return player_->set_step(player_->steps());
    default: DataView::keyPressEvent(event);
  }
}

// By default a table searches for typed text; on a rate, digits begin a new number instead.
bool PathsView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == table_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const bool on_rate = table_->currentIndex().column() == PathsModel::rate;
    if (key == Qt::Key_Comma || (key == Qt::Key_Period && !on_rate) || (key == Qt::Key_Space && on_rate)) {
      keyPressEvent(static_cast<QKeyEvent*>(event));
      return true;
    }
  }
  return DataView::eventFilter(watched, event);
}

void PathsView::fill_menu(QMenu& menu, QPoint at) {
  const QPointF within = picture_->mapFrom(this, at);
  const SurfaceScale scale = picture_->scale();
  if (!paths_ || !scale.area.contains(within)) return;
  menu.addAction(tr("Start here"), this, [this, start = scale.point_at(within)] {
    chosen().start = start;
    ask();
  });
}

ViewTable PathsView::rows_shown() const {
  ViewTable table{{tr("optimizer"), tr("rate"), tr("step"), tr("x"), tr("y"), tr("loss")}, {}};
  if (!paths_) return table;
  for (const OptimizerPath& path : paths_->each) {
    if (model_.drawn().count(path.optimizer) == 0) continue;
    for (std::size_t t = 0; t < path.points.size(); ++t)
      table.rows.push_back({QString::fromStdString(path.optimizer), plain(path.rate), QString::number(t),
                            plain(path.points[t].x), plain(path.points[t].y), plain(path.losses[t])});
  }
  return table;
}

}  // namespace rankscope::app
