// SPDX-License-Identifier: GPL-3.0-or-later
// One of a few words: as buttons side by side where all of them fit, as a list where they are many. What is designed
// and not there yet is shown, cannot be chosen, and says so.
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
  /// `here`: those of `values` that can be chosen.
  ChoiceField(const QString& name, const QString& help, std::vector<std::string> values,
              const std::vector<std::string>& here, QWidget* parent = nullptr);
  /// Without a signal; a value that is none of the field's changes nothing.
  void set_value(const std::string& value);

 signals:
  void chosen(const QString& value);

 private:
  void add_buttons(const QString& name, const QString& help, const std::vector<std::string>& here);
  void add_list(const QString& name, const QString& help, const std::vector<std::string>& here);

  std::vector<std::string> values_;
  QButtonGroup* buttons_ = nullptr;  ///< one of the two
  QComboBox* list_ = nullptr;
};

}  // namespace rankscope::app
