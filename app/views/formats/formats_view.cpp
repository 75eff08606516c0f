// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/formats/formats_view.hpp"

#include <QPainter>
#include <algorithm>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/formats/scale_rows.hpp"
#include "engine/lesson/lab/view_inputs.hpp"

namespace rankscope::app {
namespace {

constexpr int control_height = 28, control_gap = 8, top = 6, words_height = 20, preferred_height = 480;
constexpr int page_width = 92, field_width = 150, box_width = 150;
constexpr int largest_power = 60;

}  // namespace

FormatsView::FormatsView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent),
      figures_(figures),
      value_name_(new QLabel(tr("Number"), this)),
      update_name_(new QLabel(tr("Update"), this)),
      value_(new QLineEdit(this)),
      update_(new QLineEdit(this)),
      int8_scale_(new QDoubleSpinBox(this)),
      each_(new QCheckBox(tr("largest scale for each"), this)),
      power_(new QSpinBox(this)),
      rows_(new FormatRows(nullptr)),
      ranges_(new FormatRanges(nullptr)),
      scales_(new RowsTable(scale_titles(), 2, tr("What scales save"), this)) {
  setProperty(preferred_height_property, preferred_height);
  make_controls();
  rows_scroll_ = scroll_around(rows_, this);
  ranges_scroll_ = scroll_around(ranges_, this);
  connect(rows_, &FormatRows::number_wanted, this, [this](const QString& typed) { value_->setText(typed); });
  connect(rows_, &FormatRows::moved, this, [this](const QRect& box) {
    rows_scroll_->ensureVisible(box.center().x(), box.center().y(), box.width() + 8, box.height() + 8);
  });
  connect(&figures_, &FiguresModel::changed, this, &FormatsView::refresh);
  connect(&this->state(), &SharedState::step_changed, this, &FormatsView::refresh);
  take_typed();
  show_page(Page::number);
}

void FormatsView::make_controls() {
  const std::array titles{tr("A number"), tr("Gradients"), tr("Scales")};
  const std::array tips{tr("What a number becomes in each format, bit by bit"),
                        tr("Where the open run's gradients fall in the range of each format"),
                        tr("What scales for all, for each tensor and for each block save")};
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    auto* button = make_segment(titles[i], this);
    button->setToolTip(tips[i]);
    connect(button, &QToolButton::clicked, this, [this, i] { show_page(static_cast<Page>(i)); });
    pages_[i] = button;
  }
  const QString how =
      tr("A number (1.001, 2^-24, 1/1000, inf), or bits: 0x3f802108 of fp32, bf16:0x3f80 of another format");
  value_->setText(QStringLiteral("1.001"));
  value_->setToolTip(how);
  value_->setAccessibleName(tr("Number"));
  value_name_->setBuddy(value_);
  update_->setText(QStringLiteral("0.001"));
  update_->setToolTip(tr("What is added to the number, as an update to a weight; the sum is rounded once"));
  update_->setAccessibleName(tr("Update"));
  update_name_->setBuddy(update_);
  for (QLineEdit* field : {value_, update_}) {
    field->setFont(number_font());
    field->setMaxLength(80);
    connect(field, &QLineEdit::textChanged, this, &FormatsView::take_typed);
  }
  for (QLabel* label : {value_name_, update_name_}) label->setProperty("role", QStringLiteral("dim"));
  int8_scale_->setAccessibleName(tr("Scale of int8"));
  int8_scale_->setToolTip(tr("What 1 of an int8 means: its numbers are −128 to 127 times this"));
  int8_scale_->setPrefix(tr("int8 scale "));
  int8_scale_->setDecimals(6);
  int8_scale_->setRange(1e-6, 1e6);
  int8_scale_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
  int8_scale_->setValue(number_.int8_scale);
  each_->setToolTip(
      tr("The gradients are multiplied, for each format, by the largest power of two with nothing beyond"));
  power_->setAccessibleName(tr("Power of two that gradients are multiplied by"));
  power_->setToolTip(tr("The gradients are multiplied by this power of two, as by a loss scale"));
  power_->setPrefix(tr("times 2^"));
  power_->setRange(-largest_power, largest_power);
  for (QAbstractSpinBox* box : {static_cast<QAbstractSpinBox*>(int8_scale_), static_cast<QAbstractSpinBox*>(power_)}) {
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    box->setFont(number_font());
  }
  connect(int8_scale_, &QDoubleSpinBox::valueChanged, this, &FormatsView::take_typed);
  connect(each_, &QCheckBox::toggled, this, [this](bool own) {
    power_->setEnabled(!own);
    refresh();
  });
  connect(power_, &QSpinBox::valueChanged, this, &FormatsView::refresh);
}

// Invalid input is reported, and the rows keep the last valid number.
void FormatsView::take_typed() {
  std::string why;
  const auto value = typed_number(value_->text().toStdString(), &why);
  const auto update = value ? typed_number(update_->text().toStdString(), &why) : std::nullopt;
  fault_ = QString::fromStdString(why);
  number_.int8_scale = int8_scale_->value();
  if (value && update) {
    number_.typed = *value;
    number_.update = update->value * (update->format ? number_.scale_of(*update->format) : 1);
    fault_.clear();
  }
  rows_->show_number(number_);
  QWidget::update();
}

void FormatsView::refresh() {
  if (page_ != Page::gradients || !isVisible()) return;
  const MagnitudeData counted = magnitudes_at(*figures_.latest(), state().step());
  ranges_->show_fits(counted, fits_of(counted, each_->isChecked() ? std::nullopt : std::optional(power_->value())));
  QWidget::update();
}

void FormatsView::show_page(Page page) {
  page_ = page;
  for (std::size_t i = 0; i < pages_.size(); ++i) pages_[i]->setChecked(i == static_cast<std::size_t>(page));
  if (page == Page::scales && scales().rows().empty()) scales_->set_rows(scale_rows());
  arrange();
  refresh();
  QWidget::update();
}

void FormatsView::show_inputs(const std::map<std::string, std::string>& inputs) {
  for (const auto& [key, input] : inputs) {
    if (key == "page") continue;
    (key == "value" ? value_ : update_)->setText(QString::fromStdString(input));
    show_page(Page::number);
  }
  const auto page = inputs.find("page");
  for (std::size_t i = 0; page != inputs.end() && i < pages_.size(); ++i)
    if (page->second == formats_pages[i]) show_page(static_cast<Page>(i));
}

QString FormatsView::own_source() const {
  switch (page_) {
    case Page::number: return tr("computed from the definitions of the formats; no run");
    case Page::gradients: return {};
    case Page::scales: return tr("computed of tensors that are drawn by a formula; no run");
  }
  return {};
}

// Controls at the top, in as many lines as needed; then a line of text, and then the page.
void FormatsView::arrange() {
  const bool shown = !veiled();
  int x = view_margin, y = top;
  const auto place = [&](QWidget* control, int wide, int gap, bool there) {
    control->setVisible(shown && there);
    if (!there) return;
    if (x > view_margin && x + wide > width() - view_margin) {
      x = view_margin;
      y += control_height + 4;
    }
    control->setGeometry(x, y, wide, control_height);
    x += wide + gap;
  };
  for (QToolButton* button : pages_) place(button, page_width, button == pages_.back() ? 2 * control_gap : 0, true);
  const bool of_number = page_ == Page::number, of_gradients = page_ == Page::gradients;
  place(value_name_, value_name_->sizeHint().width(), control_gap, of_number);
  place(value_, field_width, 2 * control_gap, of_number);
  place(update_name_, update_name_->sizeHint().width(), control_gap, of_number);
  place(update_, 110, 2 * control_gap, of_number);
  place(int8_scale_, box_width, control_gap, of_number);
  place(power_, 100, 2 * control_gap, of_gradients);
  place(each_, each_->sizeHint().width(), control_gap, of_gradients);
  controls_bottom_ = y + control_height;
  const int upper = controls_bottom_ + words_height + 4;
  const QRect page(0, upper, width(), std::max(0, height() - upper));
  rows_scroll_->setVisible(shown && of_number);
  ranges_scroll_->setVisible(shown && of_gradients);
  scales_->setVisible(shown && page_ == Page::scales);
  rows_scroll_->setGeometry(page);
  ranges_scroll_->setGeometry(page);
  scales_->setGeometry(page.adjusted(cell_inset, 0, -cell_inset, -6));
}

QRect FormatsView::words_area() const {
  return {view_margin, controls_bottom_ + 2, width() - 2 * view_margin, words_height};
}

QString FormatsView::words() const {
  switch (page_) {
    case Page::number:
      if (!fault_.isEmpty()) return fault_;
      return tr("%1 in each format, rounded to the nearest number, ties to the even one. Click a bit to flip it.")
          .arg(number_words(number_.value()));
    case Page::gradients:
      return tr(
          "Below: less than the smallest number, so zero or that one. int8: a whole number times a power of two.");
    case Page::scales: return scale_words();
  }
  return {};
}

void FormatsView::paint(QPainter& painter) {
  const bool bad = page_ == Page::number && !fault_.isEmpty();
  draw_line(painter, words_area(), at_left, words(), bad ? colours().bad : colours().dim);
}

QString FormatsView::tip_at(QPoint at) const { return words_area().contains(at) ? words() : QString(); }

ViewTable FormatsView::rows_shown() const {
  switch (page_) {
    case Page::number: return table_of(number_);
    case Page::gradients: return table_of(ranges_->fits());
    case Page::scales: return table_of(scales());
  }
  return {};
}

}  // namespace rankscope::app
