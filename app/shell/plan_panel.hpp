// SPDX-License-Identifier: GPL-3.0-or-later
// The plan panel on the right: the editable plan; every change is predicted immediately. Below it "This plan".
#pragma once
#include <QLabel>
#include <QScrollArea>
#include <functional>
#include <set>
#include <vector>

#include "app/models/palette.hpp"
#include "app/session/adviser.hpp"
#include "app/session/session.hpp"
#include "app/shell/alternatives_list.hpp"
#include "app/shell/choice_field.hpp"
#include "app/shell/plan_figures.hpp"
#include "app/shell/stepper.hpp"

class QGridLayout;
class QPushButton;

namespace rankscope {
struct Key;
}

namespace rankscope::app {

class PlanPanel : public QScrollArea {
  Q_OBJECT
 public:
  explicit PlanPanel(Session& session, QWidget* parent = nullptr);
  void set_theme(Theme theme);
  /// Not shown if the surrounding panel has its title.
  void set_heading_visible(bool visible);
  /// Rows that are hidden for now.
  void set_hidden(const std::set<PlanRow>& rows, const QString& until);
  /// Also hides the predictions of other plans.
  void set_advice_veil(const QString& until) { advice_->set_veil(until); }
  /// True for a field of the plan without input that is not in the plan yet.
  bool is_settled_field(const QWidget* widget) const;
  /// No computation is running that would change the picture.
  bool settled() const { return adviser_.settled(); }
  const Adviser& adviser() const { return adviser_; }
  /// The text of a cell: column 0 ideal, 1 predicted, 2 measured.
  QString cell_text(PlanRow row, int column) const;
  /// The field with that label; null for none. For tests.
  QWidget* field_named(const QString& name) const;
  /// The keys that have fields: "plan.data", … For tests.
  const std::set<std::string>& keys() const { return keys_; }

 signals:
  /// Requests to edit the order of the stages as text.
  void text_wanted();
  /// Requests to show the hidden content without an answer.
  void show_anyway_wanted();

 private:
  using Applies = std::function<bool(const Scenario&)>;
  /// One key of the plan. It is hidden if it does not apply.
  struct Row {
    QLabel* label = nullptr;
    QWidget* box = nullptr;
    std::function<void(const Scenario&)> show;
    Applies applies;  ///< empty: always
  };

  void add_fields(QGridLayout& form);
  /// A key of the scenario ("plan.data") in a box of its type; numbers up to `most`.
  void add_key(QGridLayout& form, const char* path, const QString& name, const QString& help, Applies applies = {},
               int most = 4096);
  void add_field(QGridLayout& form, const QString& name, const QString& help, QWidget* box,
                 std::function<void(const Scenario&)> show, Applies applies, QWidget* buddy = nullptr);
  void add_number(QGridLayout& form, const Key& key, const QString& name, const QString& help, Applies applies,
                  int most);
  void add_real(QGridLayout& form, const Key& key, const QString& name, const QString& help, Applies applies,
                double most);
  void add_words(QGridLayout& form, const Key& key, const QString& name, const QString& help, Applies applies);
  void add_choice(QGridLayout& form, const QString& name, const QString& help, const std::vector<std::string>& values,
                  std::function<std::string(const Scenario&)> get,
                  std::function<void(Scenario&, const std::string&)> set, Applies applies = {});
  void fit_width();
  void take_scenario();
  void take_state();
  void take_figures();
  void take_advice();
  void edit(const std::function<void(Scenario&)>& change);

  Session& session_;
  Adviser adviser_;
  AlternativesList* advice_;
  std::vector<Row> fields_;
  std::set<std::string> keys_;
  QLabel *heading_, *note_;
  QPushButton *back_, *as_text_;
  std::vector<std::array<QLabel*, 4>> cells_;
  QLabel* run_column_;
  std::set<PlanRow> hidden_;
  QString hidden_until_;
  bool filling_ = false;
};

}  // namespace rankscope::app
