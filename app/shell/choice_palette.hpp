// SPDX-License-Identifier: GPL-3.0-or-later
// An input line with a list of matches below it; Enter selects one. Used by the command palette and the
// finder.
#pragma once
#include <QDialog>
#include <QList>
#include <functional>

class QLabel;
class QLineEdit;
class QListWidget;

namespace rankscope::app {

/// One line of the list.
struct Choice {
  QString text, hint;  ///< hint: dim, at the right: keys, or the kind
  std::function<void()> take;
};

/// The matches of a query, in the order of the list.
struct Choices {
  QList<Choice> list;
  QString note;  ///< below the list: why it is empty, or that there are more
};

/// Closed when another window becomes active. It is not a Qt::Popup: Qt hides these from screen readers
/// (topLevelObjects() in qaccessibleobject.cpp).
class ChoicePalette : public QDialog {
  Q_OBJECT
 public:
  /// `choices_for` is called again whenever the input changes.
  ChoicePalette(const QString& name, const QString& placeholder, std::function<Choices(const QString&)> choices_for,
                QWidget* parent);
  QStringList shown() const;
  QString note() const;

 protected:
  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fill(const QString& query);
  void choose();

  std::function<Choices(const QString&)> choices_for_;
  Choices choices_;
  QLineEdit* line_;
  QListWidget* list_;
  QLabel* note_;
};

}  // namespace rankscope::app
