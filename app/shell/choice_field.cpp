// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/choice_field.hpp"

#include <QButtonGroup>
#include <QComboBox>
#include <algorithm>

#include "app/views/common/parts.hpp"

namespace rankscope::app {
namespace {

constexpr std::size_t most_buttons = 3, most_letters = 24;  // side by side in a narrow panel

}  // namespace

ChoiceField::ChoiceField(const QString& name, const QString& help, std::vector<std::string> values, QWidget* parent)
    : QWidget(parent), values_(std::move(values)) {
  row_in(this, 0);
  std::size_t letters = 0;
  for (const std::string& value : values_) letters += value.size();
  if (values_.size() <= most_buttons && letters <= most_letters)
    add_buttons(name, help);
  else
    add_list(name, help);
}

void ChoiceField::add_buttons(const QString& name, const QString& help) {
  buttons_ = new QButtonGroup(this);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    auto* button = make_segment(QString::fromStdString(values_[i]), this);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    button->setToolTip(help);
    button->setAccessibleName(name + QLatin1Char(' ') + button->text());
    buttons_->addButton(button, static_cast<int>(i));
    layout()->addWidget(button);
  }
  connect(buttons_, &QButtonGroup::idClicked, this,
          [this](int id) { emit chosen(QString::fromStdString(values_[static_cast<std::size_t>(id)])); });
}

void ChoiceField::add_list(const QString& name, const QString& help) {
  list_ = new QComboBox(this);
  list_->setToolTip(help);
  list_->setAccessibleName(name);
  list_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  list_->setFocusPolicy(Qt::StrongFocus);  // the wheel over it scrolls the panel
  for (const std::string& value : values_) list_->addItem(QString::fromStdString(value));
  connect(list_, &QComboBox::activated, this, [this](int index) { emit chosen(list_->itemText(index)); });
  layout()->addWidget(list_);
}

void ChoiceField::set_value(const std::string& value) {
  const auto at = std::find(values_.begin(), values_.end(), value);
  if (at == values_.end()) return;
  const int index = static_cast<int>(at - values_.begin());
  if (list_ != nullptr)
    list_->setCurrentIndex(index);
  else
    buttons_->button(index)->setChecked(true);
}

}  // namespace rankscope::app
