// SPDX-License-Identifier: GPL-3.0-or-later
// Important messages for the whole window: lines below the top bar, each with its possible actions. A line
// stays until it is closed or its cause is removed.
#pragma once
#include <QFrame>
#include <functional>
#include <map>
#include <memory>
#include <vector>

class QLabel;
class QBoxLayout;

namespace rankscope::app {

enum class BannerKind : std::uint8_t { info, warning, error };

struct BannerAction {
  QString name;
  std::function<void()> run;
};

class Banner : public QWidget {
  Q_OBJECT
 public:
  explicit Banner(QWidget* parent);

  /// One line for each `subject`; a new line replaces the earlier one. If only the text differs the line and the
  /// keyboard focus are kept. An action closes its line, and then runs.
  void show_message(const QString& subject, BannerKind kind, const QString& text,
                    std::vector<BannerAction> actions = {});
  void clear(const QString& subject);
  /// The text of that line; empty if there is none.
  QString text(const QString& subject) const;
  bool is_error(const QString& subject) const;
  /// If one view is shown alone, there is no space for it.
  void set_suppressed(bool suppressed);

 private:
  struct Line {
    QFrame* frame = nullptr;
    QLabel* label = nullptr;
    BannerKind kind = BannerKind::info;
    std::shared_ptr<std::vector<BannerAction>> actions;  ///< of its buttons
  };

  QBoxLayout* column_;
  bool suppressed_ = false;
  std::map<QString, Line> lines_;
};

}  // namespace rankscope::app
