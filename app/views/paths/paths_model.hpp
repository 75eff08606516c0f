// SPDX-License-Identifier: GPL-3.0-or-later
// The table of optimizers: which are drawn, their learning rates, and their positions at the current step.
#pragma once
#include <memory>
#include <set>

#include "app/views/common/rows_model.hpp"
#include "engine/lesson/descent/path.hpp"

namespace rankscope::app {

class PathsModel : public RowsModel {
  Q_OBJECT
 public:
  enum Column { optimizer, rate, loss, distance, last_step, reached, state, column_count };
  explicit PathsModel(QObject* parent = nullptr);
  /// Null: nothing is known yet.
  void set_paths(std::shared_ptr<const Paths> paths);
  void set_step(int step);
  const std::set<std::string>& drawn() const { return drawn_; }
  void set_drawn(std::set<std::string> optimizers);
  /// The longest possible text of a column.
  static QStringList longest_words(int column);

  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 signals:
  void drawn_changed();
  /// The user sets that optimizer's learning rate.
  void rate_wanted(const std::string& optimizer, double rate);

 private:
  void fill();
  QString words_of(const OptimizerPath& path, int column) const;

  std::vector<std::string> names_;  ///< all optimizers
  std::set<std::string> drawn_{"sgd", "momentum", "adagrad", "adam"};
  std::shared_ptr<const Paths> paths_;
  Surface surface_;
  int step_ = 0;
};

}  // namespace rankscope::app
