// SPDX-License-Identifier: GPL-3.0-or-later
// The marks of the recording in the time line: flags over the axis, their text, and their actions.
#include <QMenu>
#include <QPainterPath>
#include <algorithm>

#include "app/models/steps.hpp"
#include "app/views/common/style.hpp"
#include "app/views/timeline/timeline_view.hpp"

namespace rankscope::app {
namespace {

// A flag is in the gap over the axis; clicks near it also select it.
constexpr int flag_height = 9, flag_width = 9, flag_reach = 2;
constexpr std::size_t flag_line = 60;  ///< letters of a line of a note on its card

/// The note's text in lines that fit the card.
std::vector<std::string> lines_of(const QString& text) {
  std::vector<std::string> lines;
  QString line;
  for (const QString& word : text.simplified().split(QLatin1Char(' '))) {
    if (!line.isEmpty() && line.size() + word.size() > static_cast<qsizetype>(flag_line)) {
      lines.push_back(line.toStdString());
      line.clear();
    }
    line += (line.isEmpty() ? QString() : QStringLiteral(" ")) + word.left(flag_line);
  }
  lines.push_back(line.toStdString());
  return lines;
}

QRect flag_at(const TimelineLayout& layout, double x) {
  const int left = layout.plot.left() + static_cast<int>(std::floor(x));
  return {left, std::max(layout.axis.top() - flag_height, 0), flag_width, flag_height};
}

}  // namespace

QString words_of(const TraceMark& mark) {
  QStringList words;
  if (mark.step) words << TimelineView::tr("step %1").arg(*mark.step);
  if (mark.op.valid())
    words << TimelineView::tr("%1 on rank %2").arg(QString::fromStdString(to_token(mark.op))).arg(mark.rank);
  if (words.isEmpty()) words << (mark.time.empty() ? TimelineView::tr("a moment") : TimelineView::tr("a time range"));
  return words.join(QStringLiteral(" · "));
}

void TimelineView::set_marks(const std::vector<TraceMark>& marks, bool can_mark) {
  scene_.marks = marks;
  can_mark_ = can_mark;
  if (pointer_inside_ && gesture_ == Gesture::none) hover(pointer_.toPoint());
  update();
}

std::optional<std::size_t> TimelineView::mark_at(QPoint at) const {
  const PixelScale scale = scene_.scale();
  std::optional<std::size_t> nearest;
  double least = flag_width;
  for (std::size_t i = 0; i < scene_.marks.size() && !state().visible().empty(); ++i) {
    if (!scene_.shows(scene_.marks[i])) continue;
    const double x = scale.x_of(scene_.marks[i].time.begin_ns);
    QRect reach = flag_at(scene_.layout, x).adjusted(-flag_reach, -flag_reach, flag_reach, 0);
    reach.setBottom(scene_.layout.axis.bottom());
    const double distance = std::abs(at.x() - scene_.layout.plot.left() - x);
    if (!reach.contains(at) || distance > least + flag_reach) continue;
    least = distance;
    nearest = i;
  }
  return nearest;
}

std::optional<HoverCard> TimelineView::mark_card(QPoint at) const {
  const auto index = mark_at(at);
  if (!index) return std::nullopt;
  const TraceMark& mark = scene_.marks[*index];
  HoverCard card{at, {}, {}};
  card.details.lines = lines_of(QString::fromStdString(mark.text));
  card.details.title = card.details.lines.front();
  card.details.lines.erase(card.details.lines.begin());
  card.details.lines.push_back(words_of(mark).toStdString());
  return card;
}

void TimelineView::fill_mark_menu(QMenu& menu, QPoint at) {
  if (const auto index = mark_at(at)) {
    menu.addSection(QString::fromStdString(lines_of(QString::fromStdString(scene_.marks[*index].text)).front()));
    menu.addAction(tr("Go to the mark"), this, [this, i = *index] { emit mark_wanted(i); });
    menu.addAction(tr("Change the note…"), this, [this, i = *index] { emit mark_change_wanted(i); });
    menu.addAction(tr("Delete this mark"), this, [this, i = *index] { emit mark_delete_wanted(i); });
    menu.addSeparator();
    return;
  }
  const bool over_time = scene_.layout.plot.contains(at) || scene_.layout.axis.contains(at);
  if (!can_mark_ || !over_time) return;
  const std::int64_t time = time_at(at.x() + 0.5);
  TraceMark mark{{time, time}, state().shown(), {}, -1, {}, {}};
  if (const auto step = step_at(*source().view(), state().shown(), time)) mark.step = step->step;
  menu.addAction(tr("Mark this moment…"), this, [this, mark] { emit new_mark_wanted(mark); });
}

bool TimelineScene::shows(const TraceMark& mark) const {
  return mark.time.begin_ns <= visible.end_ns && mark.time.end_ns >= visible.begin_ns &&
         (mark.time.begin_ns >= visible.begin_ns || !mark.time.empty());
}

void TimelinePainter::marks() {
  const double from = s_.layout.plot.left(), width = s_.layout.plot.width();
  p_.save();
  for (const TraceMark& mark : s_.marks) {
    if (!s_.shows(mark)) continue;
    const double x0 = scale_.x_of(mark.time.begin_ns), x1 = std::min(scale_.x_of(mark.time.end_ns), width);
    const QColor ink = color(s_.colours->text);
    // Its duration, along the axis.
    if (x1 - x0 >= 2)
      p_.fillRect(QRectF(from + std::max(x0, 0.0), s_.layout.axis.bottom() - 1, x1 - std::max(x0, 0.0), 2), ink);
    if (x0 < 0) continue;
    const QRectF flag = flag_at(s_.layout, x0);
    p_.fillRect(QRectF(flag.left(), flag.top(), 1.5, flag.height()), ink);
    p_.fillRect(QRectF(flag.left(), s_.layout.axis.bottom() - 4, 1.5, 5), ink);
    QPainterPath cloth(flag.topLeft());
    cloth.lineTo(flag.right(), flag.top() + 3);
    cloth.lineTo(flag.left(), flag.top() + 6);
    cloth.closeSubpath();
    p_.setRenderHint(QPainter::Antialiasing);
    p_.fillPath(cloth, ink);
    p_.setRenderHint(QPainter::Antialiasing, false);
  }
  p_.restore();
}

}  // namespace rankscope::app
