// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/banner.hpp"

#include <QAccessible>
#include <QLabel>
#include <algorithm>

#include "app/views/common/parts.hpp"

namespace rankscope::app {
namespace {

const char* name_of(BannerKind kind) {
  switch (kind) {
    case BannerKind::info: return "info";
    case BannerKind::warning: return "warning";
    case BannerKind::error: return "error";
  }
  return "info";
}

}  // namespace

Banner::Banner(QWidget* parent) : QWidget(parent), column_(column_in(this, 0)) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
  hide();
}

void Banner::show_message(const QString& subject, BannerKind kind, const QString& text,
                          std::vector<BannerAction> actions) {
  if (const auto there = lines_.find(subject); there != lines_.end()) {
    Line& line = there->second;
    const bool same = std::equal(actions.begin(), actions.end(), line.actions->begin(), line.actions->end(),
                                 [](const BannerAction& a, const BannerAction& b) { return a.name == b.name; });
    if (line.kind == kind && same) {
      line.label->setText(text);
      *line.actions = std::move(actions);
      return;
    }
    clear(subject);
  }
  Line line{new QFrame(this), nullptr, kind, std::make_shared<std::vector<BannerAction>>(std::move(actions))};
  line.frame->setProperty("role", QStringLiteral("banner"));
  line.frame->setProperty("kind", QLatin1String(name_of(kind)));
  auto* row = row_in(line.frame, 8, {16, 4, 8, 4});
  line.label = new QLabel(text, line.frame);
  line.label->setTextFormat(Qt::PlainText);
  line.label->setWordWrap(true);
  line.label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QSizePolicy as_wide_as_given(QSizePolicy::Ignored, QSizePolicy::Minimum);
  as_wide_as_given.setHeightForWidth(true);  // it may need two lines
  line.label->setSizePolicy(as_wide_as_given);
  row->addWidget(line.label, 1);
  for (std::size_t i = 0; i < line.actions->size(); ++i) {
    QPushButton* button = make_button((*line.actions)[i].name, line.frame);
    // Queued: the line is deleted with its button.
    connect(
        button, &QPushButton::clicked, this,
        [this, subject, actions = line.actions, i] {
          clear(subject);
          (*actions)[i].run();
        },
        Qt::QueuedConnection);
    row->addWidget(button);
  }
  QToolButton* close = make_tool_button(line.frame, QStringLiteral("✕"), tr("Close"), tr("Close this message"));
  connect(
      close, &QToolButton::clicked, this, [this, subject] { clear(subject); }, Qt::QueuedConnection);
  row->addWidget(close);
  column_->addWidget(line.frame);
  lines_[subject] = line;
  setVisible(!suppressed_);
  QAccessibleEvent alert(line.label, QAccessible::Alert);
  QAccessible::updateAccessibility(&alert);
}

void Banner::clear(const QString& subject) {
  const auto found = lines_.find(subject);
  if (found == lines_.end()) return;
  found->second.frame->hide();
  found->second.frame->deleteLater();
  lines_.erase(found);
  setVisible(!lines_.empty() && !suppressed_);
}

void Banner::set_suppressed(bool suppressed) {
  suppressed_ = suppressed;
  setVisible(!lines_.empty() && !suppressed_);
}

QString Banner::text(const QString& subject) const {
  const auto found = lines_.find(subject);
  return found == lines_.end() ? QString() : found->second.label->text();
}

bool Banner::is_error(const QString& subject) const {
  const auto found = lines_.find(subject);
  return found != lines_.end() && found->second.kind == BannerKind::error;
}

}  // namespace rankscope::app
