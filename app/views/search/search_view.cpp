// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/search_view.hpp"

#include <QHeaderView>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "engine/predict/search/plan_space.hpp"

namespace rankscope::app {
namespace {

constexpr int control_height = 28, line = 18, gap = 8;
constexpr int preferred_height = 440;
constexpr int plan_width = 330, widest_plan = 400, three_columns = 1040, two_columns = 560;
constexpr int least_for_source = 240;
constexpr int brief_tries = 40;
constexpr int bars_share = 52;  ///< per cent of the middle column

}  // namespace

SearchView::SearchView(SharedState& state, Session& session, QWidget* parent)
    : DataView(state, session, parent),
      session_(session),
      search_(new QPushButton(this)),
      use_(new QPushButton(tr("Use this plan"), this)),
      fastest_(new QPushButton(tr("Fastest"), this)),
      budget_(new QSpinBox(this)),
      seed_(new QSpinBox(this)),
      words_(new ElidedLabel(this)),
      source_(new ElidedLabel(this)),
      plans_(new PlotChart(this)),
      tries_(new PlotChart(this)),
      bars_(new ImportanceBars(this)),
      name_(new ElidedLabel(this, "text")),
      why_(new QLabel(this)),
      table_(new RowsTable({QString(), tr("chosen"), tr("fastest")}, 1, tr("The selected plan"), this)),
      sides_(new QButtonGroup(this)) {
  setProperty(preferred_height_property, preferred_height);
  make_controls();
  connect(&searcher_, &PlanSearcher::changed, this, &SearchView::take_search);
  connect(&session, &Session::scenario_changed, this, &SearchView::take_scenario);
  connect(&session, &Session::state_changed, this, &SearchView::take_scenario);
  take_scenario();
}

void SearchView::make_controls() {
  for (QSpinBox* box : {budget_, seed_}) {
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    box->setKeyboardTracking(false);
    box->setFont(number_font());
  }
  budget_->setRange(1, 10000);
  budget_->setValue(100);
  budget_->setSuffix(tr(" tries"));
  budget_->setAccessibleName(tr("Tries of random and Bayesian search"));
  budget_->setToolTip(tr("How many plans random and Bayesian search try; exhaustive search tries all"));
  seed_->setRange(0, 999999);
  seed_->setValue(1);
  seed_->setPrefix(tr("seed "));
  seed_->setAccessibleName(tr("Seed of random and Bayesian search"));
  seed_->setToolTip(tr("A different seed tries different plans; both strategies begin with the same ten"));
  why_->setWordWrap(true);
  why_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  use_->setToolTip(tr("Apply this plan; Ctrl+Z undoes it"));
  fastest_->setToolTip(tr("Select the fastest plan that fits"));
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  const std::pair<Side, QString> sides[] = {
      {plan_side, tr("Plan")}, {tries_side, tr("Tries")}, {knobs_side, tr("Knobs")}};
  for (const auto& [side, name] : sides) {
    QToolButton* button = make_segment(name, this);
    button->setChecked(side == plan_side);
    sides_->addButton(button, side);
  }
  plans_->installEventFilter(this);
  connect(search_, &QPushButton::clicked, this, [this] { searcher_.running() ? stop() : start(); });
  connect(use_, &QPushButton::clicked, this, &SearchView::use_chosen);
  connect(fastest_, &QPushButton::clicked, this, [this] {
    if (!found_.best.empty()) choose_point(found_.best.front());
  });
  connect(sides_, &QButtonGroup::idClicked, this, [this] { arrange(); });
}

void SearchView::choose(int budget, int seed) {
  budget_->setValue(budget);
  seed_->setValue(seed);
}

void SearchView::start(const std::vector<Strategy>& strategies) {
  if (!can_search()) return;
  chosen_.reset();
  picked_ = false;
  searcher_.start(*session_.scenario(), static_cast<std::size_t>(budget_->value()),
                  static_cast<std::uint64_t>(seed_->value()), strategies);
}

void SearchView::start_briefly() {
  if (!can_search()) return;
  choose(brief_tries, seed_->value());
  start({Strategy::random, Strategy::bayes});
}

// The results are valid as long as the training is the same.
void SearchView::take_scenario() {
  const auto& now = session_.scenario();
  if (searcher_.scenario() && (!now || !same_search(*searcher_.scenario(), *now))) searcher_.clear();
  source_->set_text(own_source());
  arrange();
  update();
}

void SearchView::take_search() {
  SearchReports reports;
  for (const Strategy strategy : every_strategy)
    if (auto report = searcher_.report(strategy)) reports[strategy] = std::move(report);
  const bool grown = reports != reports_;
  if (grown) {
    const std::optional<std::size_t> number =
        picked_ && chosen_ ? std::optional(found_.points[*chosen_].number) : std::nullopt;
    reports_ = std::move(reports);
    found_ = merged(reports_);
    chosen_ = number ? found_.point_of(*number) : std::nullopt;
    // The first question is why the second plan is slower.
    if (!chosen_ && !found_.best.empty()) chosen_ = found_.best[found_.best.size() > 1 ? 1 : 0];
  }
  words_->set_text(searcher_.running() ? searcher_.progress_words() : result_words(reports_));
  source_->set_text(own_source());
  if (grown) show_found();
  arrange();
  update();
}

QString SearchView::own_source() const {
  if (reports_.empty()) return {};
  return tr("SIMULATED: every plan is predicted from the figures of cluster '%1', %2; nothing ran")
      .arg(QString::fromStdString(searcher_.scenario() ? searcher_.scenario()->cluster.label() : std::string()),
           QString::fromStdString(reports_.begin()->second->judged));
}

void SearchView::show_found() {
  std::vector<ImportanceBar> bars;
  for (std::size_t k = 0; k < found_.importance.size(); ++k)
    if (found_.knobs[k].values.size() > 1)
      bars.push_back({QString::fromStdString(found_.knobs[k].name).replace(QLatin1Char('_'), QLatin1Char(' ')),
                      found_.importance[k]});
  bars_->show_bars(
      std::move(bars),
      found_.importance_words +
          tr(". Knobs that depend on each other, such as tensor, pipeline and data, share their effect, so "
             "the sum may be more than 100 %."));
  tries_->show_plot(tries_plot());
  show_chosen();
}

void SearchView::show_chosen() {
  plans_->show_plot(plans_plot());
  if (!chosen_) {
    name_->set_text({});
    why_->clear();
    table_->set_rows({});
    return;
  }
  name_->set_text(plan_name(found_, found_.points[*chosen_]));
  why_->setText(why_not_fastest(found_, *chosen_));
  table_->set_rows(plan_rows(found_, *chosen_));
}

void SearchView::choose_point(std::size_t point) {
  if (point >= found_.points.size()) return;
  chosen_ = point;
  picked_ = true;
  show_chosen();
  arrange();
}

void SearchView::use_chosen() {
  if (!chosen_ || !session_.scenario()) return;
  Scenario scenario = *session_.scenario();
  scenario.plan = with_values(scenario.plan, found_.knobs, found_.points[*chosen_].values);
  session_.edit(scenario);
}

bool SearchView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == plans_ && event->type() == QEvent::MouseButtonPress) {
    const auto* mouse = static_cast<QMouseEvent*>(event);
    const PlotPoint* point = point_near(plans_->plot(), plans_->rect(), mouse->position());
    if (mouse->button() == Qt::LeftButton && point != nullptr && point->key >= 0) {
      choose_point(static_cast<std::size_t>(point->key));
      return true;
    }
  }
  return DataView::eventFilter(watched, event);
}

// Controls at the top; at the left the plans, at the right the chosen one, between them the tries over the knobs. A
// narrow view has one of these at the right, a very narrow one only the plans.
void SearchView::arrange() {
  const bool shown = !veiled(), there = shown && !found_.empty();
  search_->setText(searcher_.running() ? tr("Stop") : tr("Search"));
  search_->setEnabled(searcher_.running() || can_search());
  search_->setToolTip(can_search() ? tr("Predict plans for the same training on the same number of ranks; nothing runs")
                                   : tr("Open a scenario to search its plans"));
  int x = view_margin;
  const auto place = [&](QWidget* control, int wide) {
    control->setVisible(shown);
    control->setGeometry(x, 6, wide, control_height);
    x += wide + gap;
  };
  place(search_, std::max(84, search_->sizeHint().width()));
  place(budget_, width_of_box(*budget_, 96));
  place(seed_, std::min(width_of_box(*seed_, 96), 120));
  words_->setVisible(shown && width() - x > 80);
  words_->setGeometry(x, 6, std::max(0, width() - x - view_margin), control_height);
  const bool has_room_for_source = there && !presents() && height() >= least_for_source;
  source_->setVisible(has_room_for_source);
  source_->setGeometry(view_margin, 6 + control_height + 2, width() - 2 * view_margin, line);

  const int top = 6 + control_height + 6 + (has_room_for_source ? line + 2 : 0);
  const int high = std::max(40, height() - top - 4);
  const bool three = width() >= three_columns, two = width() >= two_columns;
  const int right =
      two ? (three ? std::clamp(width() * 28 / 100, plan_width, widest_plan) : std::max(270, width() * 46 / 100)) : 0;
  const int middle = three ? (width() - right) * 42 / 100 : 0;
  const int left = width() - right - middle;
  const int side = sides_->checkedId();
  plans_->setVisible(there);
  plans_->setGeometry(0, top, left, high);
  int y = top;
  for (QAbstractButton* button : sides_->buttons()) {
    button->setVisible(there && two && !three);
    button->setGeometry(left + gap + static_cast<int>(sides_->id(button)) * 76, y, 72, 24);
  }
  if (two && !three) y += 30;
  const bool plan = there && two && chosen_ && (three || side == plan_side);
  const bool tries = there && two && (three || side == tries_side),
             knobs = there && two && (three || side == knobs_side);
  tries_->setVisible(tries);
  bars_->setVisible(knobs);
  if (three) {
    const int bars_high = high * bars_share / 100;
    tries_->setGeometry(left, top, middle, high - bars_high);
    bars_->setGeometry(left + gap, top + high - bars_high + 4, middle - 2 * gap, bars_high - 4);
  } else {
    tries_->setGeometry(left, y, right, std::max(40, height() - y - 4));
    bars_->setGeometry(left, y, right - view_margin, std::max(40, height() - y - 4));
  }
  for (QWidget* part : std::initializer_list<QWidget*>{name_, why_, use_, fastest_, table_}) part->setVisible(plan);
  if (!plan) return;
  const int column = left + middle + gap, wide = right - gap - view_margin;
  name_->setGeometry(column, y, wide, line + 2);
  y += line + 4;
  const int words_high = std::min(why_->heightForWidth(wide), high / 3);
  why_->setGeometry(column, y, wide, words_high);
  y += words_high + 6;
  use_->setGeometry(column, y, 116, control_height);
  use_->setEnabled(session_.spec().kind == SourceKind::scenario && !session_.active());
  fastest_->setGeometry(column + 116 + gap, y, 84, control_height);
  y += control_height + 6;
  table_->setGeometry(column - cell_padding, y, wide + cell_padding, table_->height_within(height() - y - 4));
}

void SearchView::paint(QPainter& painter) {
  if (!found_.empty()) return;
  const QRectF below(0, control_height + 8, width(), height() - control_height - 8);
  if (searcher_.running()) return paint_empty(painter, below, colours(), tr("Searching…"), searcher_.progress_words());
  if (!searcher_.failure().isEmpty())
    return paint_empty(painter, below, colours(), tr("The plans of this scenario cannot be searched"),
                       searcher_.failure());
  if (!can_search())
    return paint_empty(painter, below, colours(), tr("No plan is open"), tr("Open a scenario to search its plans."));
  paint_empty(
      painter, below, colours(), tr("No search yet"),
      tr("Search predicts plans for the same training on the same number of ranks (%1), by random, Bayesian and "
         "exhaustive search, and shows each plan as a point: time against memory. Nothing runs.")
          .arg(session_.scenario()->plan.ranks()));
}

}  // namespace rankscope::app
