// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/stepper.hpp"

#include <QHBoxLayout>

#include "app/views/common/style.hpp"

namespace rankscope::app {

Stepper::Stepper(int least, int most, QWidget* parent)
    : QWidget(parent), box_(new QSpinBox(this)), less_(new QToolButton(this)), more_(new QToolButton(this)) {
  box_->setRange(least, most);
  box_->setButtonSymbols(QAbstractSpinBox::NoButtons);
  box_->setAlignment(Qt::AlignRight);
  box_->setFont(number_font());
  box_->setKeyboardTracking(false);  // 16 is not 1 and then 16
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(4);
  row->addWidget(less_);
  row->addWidget(box_, 1);
  row->addWidget(more_);
  setFocusProxy(box_);
  const auto set_up = [this](QToolButton* button, const QString& glyph, int by) {
    button->setText(glyph);
    button->setProperty("role", QStringLiteral("step"));
    button->setAutoRepeat(true);
    button->setFocusPolicy(Qt::NoFocus);  // the arrow keys do the same in the box
    connect(button, &QToolButton::clicked, this, [this, by] { box_->stepBy(by); });
  };
  set_up(less_, QStringLiteral("−"), -1);
  set_up(more_, QStringLiteral("+"), 1);
  connect(box_, &QSpinBox::valueChanged, this, [this](int value) {
    take_ends();
    emit value_changed(value);
  });
  take_ends();
}

void Stepper::set_value(int value) { box_->setValue(value); }

void Stepper::take_ends() {
  less_->setEnabled(box_->value() > box_->minimum());
  more_->setEnabled(box_->value() < box_->maximum());
}

}  // namespace rankscope::app
