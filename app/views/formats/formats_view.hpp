// SPDX-License-Identifier: GPL-3.0-or-later
// Interactive number formats on three pages: what a number and a weight with an update become in each format,
// bit by bit; where the open run's gradients are in each format's range; and what scales save.
#pragma once
#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSpinBox>
#include <QToolButton>
#include <array>

#include "app/session/figures.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/formats/format_ranges.hpp"
#include "app/views/formats/format_rows.hpp"
#include "engine/lesson/lab/question.hpp"

namespace rankscope::app {

class FormatsView : public DataView {
  Q_OBJECT
 public:
  enum class Page : std::uint8_t { number, gradients, scales };
  FormatsView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);

  QString own_source() const override;
  /// A number, an update, a page.
  void show_inputs(const std::map<std::string, std::string>& inputs) override;
  void show_page(Page page);
  Page page() const { return page_; }

  const FormatNumber& number() const { return number_; }
  /// Why the typed text is no number; empty: it is one.
  const QString& fault() const { return fault_; }
  QLineEdit* value_field() { return value_; }
  QLineEdit* update_field() { return update_; }
  QDoubleSpinBox* int8_scale() { return int8_scale_; }
  QCheckBox* each_its_own() { return each_; }
  QSpinBox* power() { return power_; }
  FormatRows& rows() { return *rows_; }
  const FormatRanges& ranges() const { return *ranges_; }
  const RowsModel& scales() const { return scales_->rows(); }

 protected:
  void arrange() override;
  void paint(QPainter& painter) override;
  QString tip_at(QPoint at) const override;
  ViewTable rows_shown() const override;
  void on_show() override { refresh(); }

 private:
  void make_controls();
  void take_typed();
  void refresh();  ///< data from the run
  QString words() const;
  QRect words_area() const;

  FiguresModel& figures_;
  Page page_ = Page::number;
  FormatNumber number_;
  QString fault_;
  std::array<QToolButton*, 3> pages_{};
  QLabel *value_name_, *update_name_;
  QLineEdit *value_, *update_;
  QDoubleSpinBox* int8_scale_;
  QCheckBox* each_;
  QSpinBox* power_;
  QScrollArea *rows_scroll_, *ranges_scroll_;
  FormatRows* rows_;
  FormatRanges* ranges_;
  RowsTable* scales_;
  int controls_bottom_ = 0;
};

}  // namespace rankscope::app
