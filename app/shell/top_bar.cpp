// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/top_bar.hpp"

#include <QAction>
#include <QComboBox>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QToolButton>
#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "app/views/common/elided_label.hpp"
#include "app/views/common/language.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "engine/lesson/lab/course.hpp"

namespace rankscope::app {
namespace {

constexpr int top_bar_height = 44, top_bar_margin = 8, top_bar_gap = 6;
constexpr int whole_title = 280;  ///< width of the title before other items are hidden
constexpr double speeds[] = {1.0, 0.1, 0.03, 0.01, 0.003, 0.001};

QString speed_text(double speed) {
  return speed >= 1 ? QStringLiteral("1 ×") : QStringLiteral("1/%1 ×").arg(text::count(qRound64(1 / speed)));
}

/// Ends in … after the last word that fits. (A combo box with a style sheet would cut the text.)
class ElidingCombo : public QComboBox {
 public:
  using QComboBox::QComboBox;

 protected:
  void paintEvent(QPaintEvent*) override {
    QStylePainter painter(this);
    QStyleOptionComboBox option;
    initStyleOption(&option);
    painter.drawComplexControl(QStyle::CC_ComboBox, option);
    const int width = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this).width();
    option.currentText = elided_at_word(fontMetrics(), option.currentText, width - 4);
    painter.drawControl(QStyle::CE_ComboBoxLabel, option);
  }
};

}  // namespace

SourceWords words_of(SourceLabel label, Obtained shown, const StoreView& view) {
  SourceWords words;
  switch (label) {
    case SourceLabel::none: return words;
    case SourceLabel::simulated: words.label = TopBar::tr("SIMULATED"); break;
    case SourceLabel::live: words.label = TopBar::tr("LIVE"); break;
    case SourceLabel::silent: words.label = TopBar::tr("NO DATA"); break;
    case SourceLabel::lost: words.label = TopBar::tr("CONNECTION LOST"); break;
    case SourceLabel::ended: words.label = TopBar::tr("ENDED"); break;
    case SourceLabel::detached: words.label = TopBar::tr("DETACHED"); break;
    case SourceLabel::recorded: words.label = TopBar::tr("RECORDED"); break;
  }
  switch (shown) {
    case Obtained::measured: {
      words.obtained = TopBar::tr("measured");
      std::int64_t uncertainty = 0;
      for (const ClockRecord& clock : view.clocks()) uncertainty = std::max(uncertainty, clock.uncertainty_ns);
      words.clock = uncertainty > 0 ? TopBar::tr("wall clock, ± %1").arg(text::nanoseconds(uncertainty))
                                    : TopBar::tr("wall clock");
      words.short_clock = words.clock;
      break;
    }
    case Obtained::emulated:
      words.obtained = TopBar::tr("emulated");
      words.clock = TopBar::tr("device clock: measured costs, modelled links");
      words.short_clock = TopBar::tr("device clock");
      break;
    case Obtained::simulated:
      words.obtained = TopBar::tr("predicted");
      words.clock = TopBar::tr("device clock: modelled costs and links");
      words.short_clock = TopBar::tr("device clock");
      break;
  }
  return words;
}

TopBar::TopBar(Session& session, SharedState& state, Navigator& navigator, QWidget* parent)
    : QWidget(parent),
      session_(session),
      state_(state),
      navigator_(navigator),
      menu_(make_tool_button(this, tr("Rankscope ▾"), tr("Menu (F10)"))),
      palette_(make_tool_button(this, tr("Commands"), tr("Command palette (Ctrl+K)"))),
      help_(make_tool_button(this, QStringLiteral("?"), tr("Keyboard shortcuts (?)"))),
      back_(make_tool_button(this, QStringLiteral("◀"), tr("Previous step ([)"))),
      on_(make_tool_button(this, QStringLiteral("▶"), tr("Next step (])"))),
      play_(make_tool_button(this, tr("Play"), tr("Play the step in slow motion (Space)"))),
      more_(make_tool_button(this, QStringLiteral("⋯"), tr("Steps and playing"))),
      scenarios_(new ElidingCombo(this)),
      speeds_(new QComboBox(this)),
      run_(new QPushButton(tr("Run"), this)),
      stop_(new QPushButton(tr("Stop"), this)),
      label_(new QLabel(this)),
      obtained_(new QLabel(this)),
      step_label_(new QLabel(tr("Step"), this)),
      of_steps_(new QLabel(this)),
      clock_(new ElidedLabel(this, "pill")),
      progress_(new QProgressBar(this)),
      step_(new QSpinBox(this)) {
  setObjectName(QStringLiteral("topBar"));
  setAttribute(Qt::WA_StyledBackground);
  setFixedHeight(top_bar_height);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // items without space are hidden: fit()
  dress();
  lay_out();
  list_labs();
  connect_all();
  take_scenario();
  take_state();
  take_step();
  take_playback();
}

void TopBar::dress() {
  QFont bold = font();
  bold.setWeight(QFont::Bold);
  bold.setPixelSize(15);
  menu_->setFont(bold);
  menu_->setPopupMode(QToolButton::InstantPopup);
  menu_->setShortcut(QKeySequence(Qt::Key_F10));
  scenarios_->setAccessibleName(tr("Lab or scenario"));
  scenarios_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  scenarios_->setMinimumContentsLength(4);
  scenarios_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  scenarios_->setMaximumWidth(380);
  run_->setProperty("role", QStringLiteral("primary"));
  run_->setAutoDefault(true);  // Enter presses it while it has the focus
  for (QLabel* pill : {label_, obtained_}) pill->setProperty("role", QStringLiteral("pill"));
  step_->setButtonSymbols(QAbstractSpinBox::NoButtons);
  step_->setAlignment(Qt::AlignRight);
  step_->setFont(number_font());
  step_->setFixedWidth(52);
  step_->setAccessibleName(tr("Step"));
  step_->setKeyboardTracking(false);
  of_steps_->setFont(number_font());
  of_steps_->setProperty("role", QStringLiteral("dim"));
  speeds_->setAccessibleName(tr("Playback speed"));
  speeds_->setToolTip(tr("Playback speed"));
  for (const double speed : speeds) speeds_->addItem(speed_text(speed), speed);
  progress_->setRange(0, 1000);
  progress_->setFixedWidth(160);
  progress_->hide();
  more_->setPopupMode(QToolButton::InstantPopup);
  more_->setMenu(new QMenu(more_));
}

void TopBar::lay_out() {
  auto* row = row_in(this, top_bar_gap, {top_bar_margin, 0, top_bar_margin, 0});
  row->addWidget(menu_);
  row->addWidget(scenarios_, 1);
  row->addWidget(run_);
  row->addWidget(stop_);
  for (QLabel* pill : {label_, obtained_}) row->addWidget(pill, 0, Qt::AlignVCenter);
  row->addWidget(clock_, 0, Qt::AlignVCenter);
  row->addWidget(progress_);
  row->addStretch(0);
  step_label_->setProperty("role", QStringLiteral("dim"));
  row->addWidget(step_label_);
  row->addWidget(back_);
  row->addWidget(step_);
  row->addWidget(of_steps_);
  row->addWidget(on_);
  row->addWidget(play_);
  row->addWidget(speeds_);
  row->addWidget(more_);
  row->addWidget(palette_);
  row->addWidget(help_);
}

void TopBar::list_labs() {
  int number = 0;
  for (const LabGroup& group : read_library(lesson_language()).groups) {
    add_heading(QString::fromStdString(group.title));
    for (const Lab& lab : group.labs) {
      scenarios_->addItem(tr("%1  %2").arg(++number).arg(with_language(lab.title, lab.language)),
                          QString::fromStdString(lab.file));
      scenarios_->setItemData(scenarios_->count() - 1, QString::fromStdString(lab.summary), Qt::ToolTipRole);
    }
  }
  labs_end_ = scenarios_->count();
  scenarios_->setCurrentIndex(-1);
}

void TopBar::connect_all() {
  connect(more_->menu(), &QMenu::aboutToShow, this, &TopBar::fill_more);
  connect(scenarios_, &QComboBox::activated, this,
          [this](int index) { emit scenario_wanted(scenarios_->itemData(index).toString()); });
  connect(back_, &QToolButton::clicked, this, [this] { navigator_.step_by(-1); });
  connect(on_, &QToolButton::clicked, this, [this] { navigator_.step_by(1); });
  connect(play_, &QToolButton::clicked, this, [this] { navigator_.toggle_playing(); });
  connect(step_, &QSpinBox::valueChanged, this, [this](int step) {
    if (!filling_) navigator_.show_step(static_cast<std::uint32_t>(step));
  });
  connect(speeds_, &QComboBox::activated, this,
          [this](int index) { state_.set_playback_speed(speeds_->itemData(index).toDouble()); });

  connect(&session_, &Session::scenario_changed, this, &TopBar::take_scenario);
  connect(&session_, &Session::state_changed, this, &TopBar::take_state);
  connect(&session_, &Session::progress_changed, this, &TopBar::take_state);
  connect(&session_, &Session::contact_changed, this, &TopBar::take_state);
  connect(&session_, &SnapshotSource::changed, this, [this] {
    take_state();
    take_step();
  });
  connect(&state_, &SharedState::shown_changed, this, &TopBar::take_state);
  connect(&state_, &SharedState::step_changed, this, &TopBar::take_step);
  connect(&state_, &SharedState::playback_changed, this, &TopBar::take_playback);
}

void TopBar::set_menu(QMenu* menu) { menu_->setMenu(menu); }

void TopBar::set_actions(QAction* run, QAction* stop, QAction* palette, QAction* help) {
  const auto bind = [](QAbstractButton* button, QAction* action) {
    connect(button, &QAbstractButton::clicked, action, &QAction::trigger);
    const auto take = [button, action] {
      button->setEnabled(action->isEnabled());
      button->setToolTip(action->toolTip());
    };
    connect(action, &QAction::changed, button, take);
    take();
  };
  bind(run_, run);
  bind(stop_, stop);
  bind(palette_, palette);
  bind(help_, help);
}

// A line between groups; it cannot be chosen.
void TopBar::add_heading(const QString& words) {
  scenarios_->addItem(words);
  auto* model = qobject_cast<QStandardItemModel*>(scenarios_->model());
  QStandardItem* item = model->item(scenarios_->count() - 1);
  item->setFlags(Qt::NoItemFlags);
  item->setFont(bold_font(scenarios_->font()));
}

void TopBar::focus_run() { run_->setFocus(Qt::TabFocusReason); }

bool TopBar::run_has_focus() const { return run_->hasFocus(); }

QStringList TopBar::listed() const {
  QStringList all;
  for (int i = 0; i < scenarios_->count(); ++i) all << scenarios_->itemText(i);
  return all;
}

namespace {

/// Two recordings of one lab have the same title, so the name of the file is used.
QString name_of_opened(const Session& session) {
  const SourceSpec& spec = session.spec();
  const QString file = QFileInfo(spec.text).fileName();
  const QString title = session.scenario() ? QString::fromStdString(session.scenario()->title) : QString();
  switch (spec.kind) {
    case SourceKind::none: return {};
    case SourceKind::endpoint: return spec.text;
    case SourceKind::trace: return TopBar::tr("Recording %1").arg(file);
    case SourceKind::join_file:
    case SourceKind::scenario: return title.isEmpty() ? file : TopBar::tr("%1: %2").arg(file, title);
  }
  return {};
}

}  // namespace

void TopBar::take_scenario() {
  const SourceSpec& spec = session_.spec();
  int index = spec.kind == SourceKind::none ? -1 : scenarios_->findData(spec.text);
  const bool lab = index >= 0 && index < labs_end_;
  if (spec.kind != SourceKind::none && !lab) {
    // It keeps its own entry.
    if (!std::exchange(any_opened_, true)) add_heading(tr("Opened"));
    if (index < 0) {
      scenarios_->addItem({}, spec.text);
      index = scenarios_->count() - 1;
    }
    scenarios_->setItemText(index, name_of_opened(session_));
    scenarios_->setItemData(index, spec.text, Qt::ToolTipRole);
  }
  scenarios_->setCurrentIndex(index);
  scenarios_->setToolTip(scenarios_->currentText());
}

void TopBar::take_state() {
  const auto view = session_.view();
  words_ = words_of(session_.label(), state_.shown(), *view);
  if (session_.label() == SourceLabel::simulated && session_.predicted() && session_.predicted()->left)
    words_.label = tr("SIMULATED, A NODE LOST");
  const SourceWords& words = words_;
  label_->setText(words.label);
  obtained_->setText(words.obtained);
  obtained_->setToolTip(words.clock);
  set_style_property(*label_, "live", session_.label() == SourceLabel::live);
  progress_->setValue(static_cast<int>(session_.progress() * 1000));
  progress_->setFormat(tr("reading, %p %"));
  fit();
}

void TopBar::take_step() {
  const auto steps = session_.view()->steps(state_.shown());
  filling_ = true;
  const bool any = !steps.empty();
  step_->setRange(any ? static_cast<int>(steps.front()) : 0, any ? static_cast<int>(steps.back()) : 0);
  step_->setValue(static_cast<int>(state_.step().value_or(any ? steps.back() : 0)));
  of_steps_->setText(any ? QStringLiteral("/ %1").arg(steps.back()) : QString());
  for (QWidget* widget : std::initializer_list<QWidget*>{step_, back_, on_, play_, speeds_}) widget->setEnabled(any);
  filling_ = false;
}

void TopBar::take_playback() {
  play_->setText(state_.playing() ? tr("Pause") : tr("Play"));
  const int index = speeds_->findData(state_.playback_speed());
  if (index >= 0) speeds_->setCurrentIndex(index);
}

void TopBar::resizeEvent(QResizeEvent*) { fit(); }

// The content and the Run button are always visible. The rest is hidden in this order if there is too little space;
// hidden items are in the menu of "⋯", or in the tool tip of the visible ones.
void TopBar::fit() {
  const bool reading = session_.state() == SessionState::opening && session_.spec().kind == SourceKind::trace;
  // While a file is read, the progress bar replaces the pills: together they would widen the window.
  const auto has_text = [&](const QLabel* pill) { return !reading && !pill->text().isEmpty(); };
  clock_->set_text(words_.clock);
  clock_->setToolTip(words_.clock);
  const bool runs = stop_->isEnabled();
  const std::pair<QWidget*, bool> parts[] = {{menu_, true},
                                             {scenarios_, true},
                                             {run_, true},
                                             {stop_, true},
                                             {label_, has_text(label_)},
                                             {obtained_, has_text(obtained_)},
                                             {clock_, !reading && !words_.clock.isEmpty()},
                                             {progress_, reading},
                                             {step_label_, true},
                                             {back_, true},
                                             {step_, true},
                                             {of_steps_, true},
                                             {on_, true},
                                             {play_, true},
                                             {speeds_, true},
                                             {more_, false},
                                             {palette_, true},
                                             {help_, true}};
  std::map<QWidget*, bool> shown(std::begin(parts), std::end(parts));
  int title = whole_title;
  const auto width_of = [&](QWidget* part) {
    if (part == scenarios_) return std::max(title, scenarios_->minimumSizeHint().width());
    return std::clamp(part->sizeHint().width(), part->minimumWidth(), part->maximumWidth());
  };
  const auto fits = [&] {
    int all = 2 * top_bar_margin;
    for (const auto& [part, is_shown] : shown) all += is_shown ? width_of(part) + top_bar_gap : 0;
    return all <= width();
  };
  const std::vector<std::function<void()>> yields{
      [&] { clock_->set_text(words_.short_clock); },
      [&] { shown[step_label_] = false; },
      [&] { shown[palette_] = false; },
      [&] { shown[clock_] = false; },
      [&] { shown[speeds_] = false, shown[more_] = true; },
      [&] { shown[play_] = false; },
      [&] { title = whole_title / 2; },
      [&] { shown[of_steps_] = false; },
      [&] { shown[help_] = false; },
      [&] { shown[runs ? static_cast<QWidget*>(run_) : stop_] = false; },
      [&] { shown[back_] = shown[on_] = false; },
      [&] { title = 0; },
      [&] { shown[obtained_] = false; },
      [&] { shown[step_] = false; },
  };
  for (const auto& yield : yields) {
    if (fits()) break;
    yield();
  }
  for (const auto& [part, is_shown] : shown) part->setVisible(is_shown);
  label_->setToolTip(source_text());
}

void TopBar::fill_more() {
  QMenu* menu = more_->menu();
  menu->clear();
  menu->addAction(tr("Previous step ([)"), this, [this] { navigator_.step_by(-1); })->setEnabled(step_->isEnabled());
  menu->addAction(tr("Next step (])"), this, [this] { navigator_.step_by(1); })->setEnabled(step_->isEnabled());
  menu->addAction(state_.playing() ? tr("Pause (Space)") : tr("Play in slow motion (Space)"), this,
                  [this] { navigator_.toggle_playing(); })
      ->setEnabled(step_->isEnabled());
  QMenu* speed = menu->addMenu(tr("Playback speed"));
  for (const double one : speeds) {
    QAction* action = speed->addAction(speed_text(one), this, [this, one] { state_.set_playback_speed(one); });
    action->setCheckable(true);
    action->setChecked(state_.playback_speed() == one);
  }
  menu->addSeparator();
  menu->addAction(source_text())->setEnabled(false);
}

QString TopBar::source_text() const {
  return QStringList{words_.label, words_.obtained, words_.clock}.join(QStringLiteral(" · "));
}

}  // namespace rankscope::app
