// SPDX-License-Identifier: GPL-3.0-or-later
// Selects one of a few words: as adjacent buttons if all of them fit, else as a list.
#pragma once
#include <QWidget>
#include <string>
#include <vector>

class QButtonGroup;
class QComboBox;

namespace rankscope::app {

class ChoiceField : public QWidget {
  Q_OBJECT
 public:
  ChoiceField(const QString& name, const QString& help, std::vector<std::string> values, QWidget* parent = nullptr);
  /// Without a signal; a value that the field does not have changes nothing.
  void set_value(const std::string& value);

 signals:
  void chosen(const QString& value);

 private:
  void add_buttons(const QString& name, const QString& help);
  void add_list(const QString& name, const QString& help);

  std::vector<std::string> values_;
  QButtonGroup* buttons_ = nullptr;  ///< one of the two
  QComboBox* list_ = nullptr;
};

}  // namespace rankscope::app
