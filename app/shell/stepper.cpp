// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/stepper.hpp"

#include <QEvent>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr int short_range = 8;       ///< up to here a slider stops at every value
constexpr int greatest_stop = 4096;  ///< larger values are typed
constexpr int slider_width = 32;     ///< a narrower slider is hidden
constexpr int most_digits =
    6;  ///< a box has space for this number, whatever its range: all boxes of a column have one width

std::vector<int> stops_between(int least, int most) {
  std::vector<int> stops;
  if (most - least <= short_range) {
    for (int value = least; value <= most; ++value) stops.push_back(value);
    return stops;
  }
  if (least <= 0) stops.push_back(least);
  for (int value = 1; value <= std::min(most, greatest_stop); value *= 2)
    if (value > least) stops.push_back(value);
  return stops;
}

/// The nearest on the slider's scale: by ratio.
int stop_at(const std::vector<int>& stops, int value) {
  const auto far = [value](int stop) { return std::fabs(std::log2(stop + 0.5) - std::log2(std::max(value, 0) + 0.5)); };
  return static_cast<int>(std::min_element(stops.begin(), stops.end(), [&](int a, int b) { return far(a) < far(b); }) -
                          stops.begin());
}

}  // namespace

Stepper::Stepper(int least, int most, QWidget* parent)
    : QWidget(parent),
      stops_(stops_between(least, most)),
      box_(new QSpinBox(this)),
      slider_(new QSlider(Qt::Horizontal, this)),
      less_(new QToolButton(this)),
      more_(new QToolButton(this)) {
  box_->setRange(least, most);
  box_->setButtonSymbols(QAbstractSpinBox::NoButtons);
  box_->setAlignment(Qt::AlignRight);
  box_->setFont(number_font());
  box_->setKeyboardTracking(false);  // 16 is not handled as 1 and then 16
  QSpinBox widest;
  widest.setButtonSymbols(QAbstractSpinBox::NoButtons);
  widest.setFont(number_font());
  widest.setMaximum(static_cast<int>(std::pow(10, most_digits)) - 1);
  box_->setFixedWidth(widest.sizeHint().width());
  slider_->setRange(0, static_cast<int>(stops_.size()) - 1);
  slider_->setPageStep(1);
  slider_->setMinimumWidth(0);           // in a narrow panel the slider is hidden, so that the number stays visible
  slider_->setFocusPolicy(Qt::NoFocus);  // the arrow keys step the box
  slider_->installEventFilter(this);
  auto* row = row_in(this, 4);
  row->addWidget(less_);
  row->addWidget(slider_, 1);
  row->addWidget(more_);
  row->addWidget(box_);
  setFocusProxy(box_);
  const auto set_up = [this](QToolButton* button, const QString& glyph, int by) {
    button->setText(glyph);
    button->setProperty("role", QStringLiteral("step"));
    button->setAutoRepeat(true);
    button->setFocusPolicy(Qt::NoFocus);
    connect(button, &QToolButton::clicked, this, [this, by] { box_->stepBy(by); });
  };
  set_up(less_, QStringLiteral("−"), -1);
  set_up(more_, QStringLiteral("+"), 1);
  connect(slider_, &QSlider::valueChanged, this,
          [this](int stop) { box_->setValue(stops_[static_cast<std::size_t>(stop)]); });
  connect(box_, &QSpinBox::valueChanged, this, [this](int value) {
    take_value();
    emit value_changed(value);
  });
  take_value();
}

void Stepper::set_name(const QString& name) {
  box_->setAccessibleName(name);
  slider_->setAccessibleName(tr("%1, slider").arg(name));
  less_->setAccessibleName(tr("decrease %1").arg(name));
  more_->setAccessibleName(tr("increase %1").arg(name));
}

void Stepper::set_value(int value) { box_->setValue(value); }

void Stepper::resizeEvent(QResizeEvent*) {
  const QBoxLayout& row = *static_cast<const QBoxLayout*>(layout());
  const int others = less_->sizeHint().width() + more_->sizeHint().width() + box_->width() + 3 * row.spacing();
  slider_->setVisible(width() - others >= slider_width);
}

QSize Stepper::minimumSizeHint() const {
  const int others = less_->sizeHint().width() + more_->sizeHint().width() + box_->minimumWidth();
  return {others + 2 * layout()->spacing(), QWidget::minimumSizeHint().height()};
}

// The wheel over it scrolls its container.
bool Stepper::eventFilter(QObject* watched, QEvent* event) {
  if (watched != slider_ || event->type() != QEvent::Wheel) return QWidget::eventFilter(watched, event);
  event->ignore();
  return true;
}

void Stepper::take_value() {
  less_->setEnabled(box_->value() > box_->minimum());
  more_->setEnabled(box_->value() < box_->maximum());
  const QSignalBlocker quiet(slider_);  // a value between two stops must not change
  slider_->setValue(stop_at(stops_, box_->value()));
}

}  // namespace rankscope::app
