// SPDX-License-Identifier: GPL-3.0-or-later
// The status line at the bottom: the source of the data, their amount, losses, and the recording.
#pragma once
#include <QTimer>
#include <QWidget>

#include "app/session/session.hpp"
#include "app/views/common/elided_label.hpp"

namespace rankscope::app {

class StatusLine : public QWidget {
  Q_OBJECT
 public:
  explicit StatusLine(Session& session, QWidget* parent = nullptr);
  QString left_text() const { return left_->whole_text(); }
  /// The op under the pointer; empty: none.
  void describe(const QString& words);
  /// The number of marks in the recording.
  void set_marks(std::size_t marks);

 private:
  void take_in();

  Session& session_;
  ElidedLabel *left_, *right_;
  QTimer limit_;
  std::size_t marks_ = 0;
};

}  // namespace rankscope::app
