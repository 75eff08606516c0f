// SPDX-License-Identifier: GPL-3.0-or-later
// Small parts of widgets, in the style sheet's roles.
#pragma once
#include <QBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QTimer>
#include <QToolButton>
#include <QVariant>
#include <algorithm>

namespace rankscope::app {

/// A layout of `parent`, or without a parent if that is null. Margins: left, top, right, bottom.
inline QBoxLayout* layout_in(QBoxLayout::Direction way, QWidget* parent, int spacing, QMargins margins) {
  auto* layout = new QBoxLayout(way, parent);
  layout->setContentsMargins(margins);
  layout->setSpacing(spacing);
  return layout;
}
inline QBoxLayout* column_in(QWidget* parent, int spacing, QMargins margins = {}) {
  return layout_in(QBoxLayout::TopToBottom, parent, spacing, margins);
}
inline QBoxLayout* row_in(QWidget* parent, int spacing, QMargins margins = {}) {
  return layout_in(QBoxLayout::LeftToRight, parent, spacing, margins);
}

/// Lines that wrap; text from other sources is shown unchanged, including tags.
inline QLabel* make_label(const QString& words, const char* role, QWidget* parent) {
  auto* label = new QLabel(words, parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setProperty("role", QLatin1String(role));
  return label;
}

/// At least `least`, and wide enough for every number of the box with its words, which depend on the language.
template <class Box>
int width_of_box(const Box& box, int least) {
  QString number = QString::number(box.maximum());
  if constexpr (requires { box.decimals(); }) number = QString::number(box.maximum(), 'f', box.decimals());
  const QString longest = box.prefix() + number + box.suffix();
  constexpr int frame = 20;
  return std::max(least, box.fontMetrics().horizontalAdvance(longest) + frame);
}

/// Enter also presses it while it has the focus.
inline QPushButton* make_button(const QString& words, QWidget* parent) {
  auto* button = new QPushButton(words, parent);
  button->setAutoDefault(true);
  return button;
}

/// A button that looks like a link.
inline QPushButton* make_link(const QString& words, QWidget* parent) {
  QPushButton* link = make_button(words, parent);
  link->setProperty("role", QStringLiteral("link"));
  return link;
}

/// A flat button with a word or a symbol. `help` is its tool tip; `name` is for screen readers, empty: the same.
inline QToolButton* make_tool_button(QWidget* parent, const QString& words, const QString& help,
                                     const QString& name = {}) {
  auto* button = new QToolButton(parent);
  button->setText(words);
  button->setToolTip(help);
  button->setAccessibleName(name.isEmpty() ? help : name);
  return button;
}

/// The same with a frame, as in media players.
inline QToolButton* word_button(QWidget* parent, const QString& words, const QString& help) {
  QToolButton* button = make_tool_button(parent, words, help);
  button->setProperty("role", QStringLiteral("button"));
  return button;
}

/// One of several adjacent buttons, of which one is chosen.
inline QToolButton* make_segment(const QString& words, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(words);
  button->setProperty("role", QStringLiteral("segment"));
  button->setCheckable(true);
  return button;
}

/// Scrolls `content` if it is larger than its space; no frame.
inline QScrollArea* scroll_around(QWidget* content, QWidget* parent) {
  auto* scroll = new QScrollArea(parent);
  scroll->setWidget(content);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  return scroll;
}

inline void show_all(bool shown, std::initializer_list<QWidget*> parts) {
  for (QWidget* part : parts) part->setVisible(shown);
}

/// `timer` calls `then` once, this time after it was last started.
template <class Receiver, class Then>
void set_up_pause(QTimer& timer, int ms, Receiver* receiver, Then then) {
  timer.setSingleShot(true);
  timer.setInterval(ms);
  QObject::connect(&timer, &QTimer::timeout, receiver, std::move(then));
}

/// A property of widgets: true if the widget itself uses arrows and digits while it has the focus, as a box for
/// input does. Elsewhere they move the time line.
inline constexpr const char* own_keys_property = "ownKeys";

/// A property that the style sheet reads, such as "role": of a widget that may already be shown.
inline void set_style_property(QWidget& widget, const char* name, const QVariant& value) {
  if (widget.property(name) == value) return;
  widget.setProperty(name, value);
  widget.style()->unpolish(&widget);
  widget.style()->polish(&widget);
}

}  // namespace rankscope::app
