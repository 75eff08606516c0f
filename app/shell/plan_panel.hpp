// SPDX-License-Identifier: GPL-3.0-or-later
// The plan at the right: what ran, editable; every change is predicted at once. Below it "This plan".
#pragma once
#include <QLabel>
#include <QScrollArea>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "app/models/palette.hpp"
#include "app/session/session.hpp"
#include "app/shell/choice_field.hpp"
#include "app/shell/plan_figures.hpp"
#include "app/shell/stepper.hpp"

class QGridLayout;
class QPushButton;

namespace rankscope::app {

class PlanPanel : public QScrollArea {
  Q_OBJECT
 public:
  explicit PlanPanel(Session& session, QWidget* parent = nullptr);
  void set_theme(Theme theme);
  /// Rows that must not be read yet.
  void set_hidden(const std::set<PlanRow>& rows);
  /// The text of a cell: column 0 ideal, 1 predicted, 2 measured.
  QString cell_text(PlanRow row, int column) const;

 private:
  struct Field {
    Stepper* box = nullptr;
    std::function<int&(Scenario&)> value;
  };
  struct Choice {
    ChoiceField* field = nullptr;
    std::function<std::string(const Scenario&)> value;
  };

  void add_number(QGridLayout& form, const QString& name, const QString& help, int most,
                  std::function<int&(Scenario&)> value);
  void add_choice(QGridLayout& form, const QString& name, const QString& help, const char* key,
                  std::function<std::string(const Scenario&)> get,
                  std::function<void(Scenario&, const std::string&)> set);
  void take_scenario();
  void take_state();
  void take_figures();
  void edit(const std::function<void(Scenario&)>& change);

  Session& session_;
  std::vector<Field> fields_;
  std::vector<Choice> choices_;
  QLabel* note_;
  QPushButton* back_;
  std::vector<std::array<QLabel*, 4>> cells_;
  QLabel* run_column_;
  std::set<PlanRow> hidden_;
  bool filling_ = false;
};

}  // namespace rankscope::app
