// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of the time line: on boxes, on bubbles, at ranks. A label that does not fit is replaced by a shorter one,
// or omitted; labels do not overlap, because each stays within its own box.
#include <fmt/format.h>
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "app/models/translated.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/timeline/timeline_painter.hpp"
#include "telemetry/store/names.hpp"

namespace rankscope::app {
namespace {

QFont sized(QFont font, double factor, int least, QFont::Weight weight) {
  font.setPixelSize(std::max(static_cast<int>(std::lround(font.pixelSize() * factor)), least));
  font.setWeight(weight);
  return font;
}

// More labels than this are not read; drawing them costs time.
constexpr std::size_t most_labels = 1500;

const char* name_of_row(Lane lane) {
  switch (lane) {
    case Lane::compute: return QT_TRANSLATE_NOOP("Models", "compute");
    case Lane::copy: return QT_TRANSLATE_NOOP("Models", "copy");
    case Lane::tensor: return QT_TRANSLATE_NOOP("Models", "tensor");
    case Lane::data: return QT_TRANSLATE_NOOP("Models", "data");
    case Lane::zero_gather: return QT_TRANSLATE_NOOP("Models", "gather");
    case Lane::zero_reduce: return QT_TRANSLATE_NOOP("Models", "reduce");
    case Lane::forward_send: return QT_TRANSLATE_NOOP("Models", "F send");
    case Lane::forward_receive: return QT_TRANSLATE_NOOP("Models", "F receive");
    case Lane::backward_send: return QT_TRANSLATE_NOOP("Models", "B send");
    case Lane::backward_receive: return QT_TRANSLATE_NOOP("Models", "B receive");
    case Lane::checkpoint: return QT_TRANSLATE_NOOP("Models", "save");
    case Lane::server: return QT_TRANSLATE_NOOP("Models", "server");
    case Lane::host: return QT_TRANSLATE_NOOP("Models", "host");
  }
  return "";
}

}  // namespace

TextWidths::Shaped& TextWidths::shaped(const QString& text) {
  const auto known = known_.find(text);
  if (known != known_.end()) return *known;
  // In a live run numbers change in every picture: texts that were not drawn for two generations are deleted.
  if (known_.size() >= generation) before_ = std::exchange(known_, {});
  if (const auto older = before_.find(text); older != before_.end()) return *known_.insert(text, *older);
  Shaped result{QStaticText(text), QFontMetricsF(font_).horizontalAdvance(text)};
  result.text.setTextFormat(Qt::PlainText);
  result.text.setPerformanceHint(QStaticText::AggressiveCaching);
  result.text.prepare({}, font_);
  return *known_.insert(text, result);
}

void TextWidths::draw(QPainter& painter, const QRectF& place, int flags, const QString& text, const QColor& colour) {
  const Shaped& shape = shaped(text);
  const double free = place.width() - shape.width;
  const double x = place.left() + (flags & Qt::AlignHCenter ? free / 2 : flags & Qt::AlignRight ? free : 0);
  const double y = place.center().y() - shape.text.size().height() / 2;
  painter.setFont(font_);
  painter.setPen(colour);
  painter.drawStaticText(QPointF(std::round(x), std::round(y)), shape.text);
}

TimelineFonts::TimelineFonts(const QFont& base, const QFont& numbers)
    : title(sized(base, 1, 8, QFont::DemiBold)),
      text(sized(base, 1, 8, QFont::Normal)),
      small(sized(base, 0.86, 8, QFont::Normal)),
      tiny(sized(base, 0.77, 8, QFont::Normal)),
      number(sized(numbers, 0.86, 8, QFont::Normal)) {}

std::optional<std::pair<double, double>> label_room(double x0, double x1, double left, double right, double padding) {
  const double from = std::max(x0, left) + padding, to = std::min(x1, right) - padding;
  if (to <= from) return std::nullopt;
  return std::pair{from, to};
}

std::size_t form_of_lane(std::vector<LabelFit> fits) {
  std::erase_if(fits, [](const LabelFit& fit) { return fit.fits == no_label; });
  if (fits.empty()) return 0;
  const auto middle = fits.begin() + static_cast<std::ptrdiff_t>(fits.size() / 2);
  std::nth_element(fits.begin(), middle, fits.end(),
                   [](const LabelFit& a, const LabelFit& b) { return a.fits_well < b.fits_well; });
  std::size_t form = middle->fits_well == no_label ? middle->fits : middle->fits_well;
  std::nth_element(fits.begin(), middle, fits.end(),
                   [](const LabelFit& a, const LabelFit& b) { return a.room < b.room; });
  // One box that is much narrower than the others does not shorten the labels of all: only its own is shorter.
  const double usual = 0.6 * middle->room;
  for (const LabelFit& fit : fits)
    if (fit.room >= usual) form = std::max(form, fit.fits);
  return form;
}

// If ranks are at different steps at the same time, a micro-batch's number alone would seem to belong to the step in
// the header.
std::vector<std::string> TimelinePainter::labels_on(const FrameBox& box) const {
  const std::int32_t rank = s_.rows->rows[box.row].rank;
  if (box.box.op.is_observed() && s_.run) return forms_of_op(*s_.run, rank, box.box.op);
  std::vector<std::string> labels = labels_of(box.box);
  const bool asynchronous = s_.plan && s_.plan->grid.servers > 0 && s_.plan->scenario.plan.staleness > 0;
  if (!asynchronous || s_.rows->rows[box.row].kind != RowKind::compute) return labels;
  const std::string step = translated("step %1", static_cast<int>(box.box.step));
  std::vector<std::string> with_step;
  if (s_.plan->scenario.plan.micro_batches > 1 || labels.size() > 1)
    for (const std::string& label : labels) with_step.push_back(step + " · " + label);
  with_step.push_back(step);
  with_step.push_back(std::to_string(box.box.step));
  return with_step;
}

void TimelinePainter::box_labels() {
  const double left = s_.layout.plot.left(), right = s_.layout.plot.right() + 1;
  struct Labelled {
    const FrameBox* box;
    TextWidths* font;
    std::vector<std::string> labels;
    std::pair<double, double> room;
    LabelFit fit;
  };
  // Boxes of one kind in a lane have labels of one form, so that they can be compared along the lane.
  using Like = std::tuple<std::size_t, OpKind, FoldLevel, std::size_t>;
  std::vector<Labelled> all;
  std::map<Like, std::vector<LabelFit>> fits;
  const auto like = [](const Labelled& one) {
    return Like{one.box->row, one.box->box.op.valid() ? one.box->box.op.kind() : OpKind{}, one.box->box.level,
                one.labels.size()};
  };
  for (const FrameBox& box : s_.frame->boxes) {
    const TimelineRow& row = s_.rows->rows[box.row];
    if (row.kind == RowKind::ghost || all.size() >= most_labels || under_pinned(box.row)) continue;
    TextWidths& font = row.height >= 26 ? fonts_.title : fonts_.small;
    if (row.height < font.font().pixelSize() + 3) continue;
    const QRectF place = row_rect(box.row);
    if (place.bottom() < s_.layout.plot.top() || place.top() > s_.layout.plot.bottom()) continue;
    const double x0 = left + scale_.x_of(std::max(box.box.active_ns, box.box.begin_ns)),
                 x1 = left + scale_.x_of(box.box.end_ns);
    const auto room = label_room(x0, x1, left, right, 2);
    if (!room) continue;
    Labelled one{&box, &font, labels_on(box), *room, {room->second - room->first, no_label, no_label}};
    for (std::size_t i = one.labels.size(); i-- > 0;) {
      const double width = font.width(QString::fromStdString(one.labels[i]));
      // Numbers may fill their box; words need a margin.
      if (width <= one.fit.room) one.fit.fits = i;
      if (width + (one.labels[i].size() > 2 ? 6 : 0) <= one.fit.room) one.fit.fits_well = i;
    }
    const bool whole = x0 >= left && x1 <= right;
    if (whole) fits[like(one)].push_back(one.fit);
    all.push_back(std::move(one));
  }
  std::map<Like, std::size_t> forms;
  for (auto& [group, of_group] : fits) forms[group] = form_of_lane(std::move(of_group));
  for (const Labelled& one : all) {
    const auto form = forms.find(like(one));
    // Only boxes that are fully visible determine the form; boxes at the view's edge use the same form.
    std::size_t i = form != forms.end() ? form->second : one.fit.fits_well;
    while (i < one.labels.size() && one.font->width(QString::fromStdString(one.labels[i])) > one.fit.room) ++i;
    if (i >= one.labels.size()) continue;
    const QRectF place = row_rect(one.box->row);
    text(*one.font, {one.room.first, place.top(), one.fit.room, place.height()}, Qt::AlignCenter,
         QString::fromStdString(one.labels[i]),
         s_.colours->ink_on(s_.colours->of(one.box->kind, s_.rows->rows[one.box->row].lane)));
  }
}

void TimelinePainter::bubble_labels() {
  const double left = s_.layout.plot.left(), right = s_.layout.plot.right() + 1;
  for (const FrameBubble& bubble : s_.frame->bubbles) {
    const TimelineRow& row = s_.rows->rows[bubble.row];
    TextWidths& font = row.height >= 24 ? fonts_.small : fonts_.tiny;
    if (row.height < font.font().pixelSize() + 3 || under_pinned(bubble.row)) continue;
    const QRectF place = row_rect(bubble.row);
    const auto room = label_room(left + scale_.x_of(bubble.stretch.begin_ns), left + scale_.x_of(bubble.stretch.end_ns),
                                 left, right, 8);
    if (!room) continue;
    for (const std::string& label : cause_labels(bubble.stretch.main())) {
      const QString words = QString::fromStdString(label);
      const double width = font.width(words);
      if (width > room->second - room->first) continue;
      const double middle = (room->first + room->second) / 2;
      const double height = std::min<double>(font.font().pixelSize() + 6, place.height() - 2);
      const QRectF pill(middle - width / 2 - 5, place.center().y() - height / 2, width + 10, height);
      p_.setRenderHint(QPainter::Antialiasing);
      p_.setPen(Qt::NoPen);
      p_.setBrush(color(s_.colours->ground));
      p_.drawRoundedRect(pill, 3, 3);
      p_.setRenderHint(QPainter::Antialiasing, false);
      text(font, pill, Qt::AlignCenter, words, s_.colours->dim);
      break;
    }
  }
}

void TimelinePainter::bands() {
  const QRect area = s_.layout.labels;
  p_.save();
  p_.setClipRect(area);
  double free_from = -1e9;  // where the label above ends: labels of heat rows are omitted where they would overlap
  const double line = fonts_.text.font().pixelSize() + 3.0;
  for (const RankBand& band : s_.rows->bands) {
    const double top = area.top() + s_.rows->view_y(band, s_.scroll);
    if (top > area.bottom() || top + band.height < area.top()) continue;
    if (band.row_count == 0) continue;
    if (!band.pinned && top < area.top() + s_.rows->pinned_height - 8) continue;
    const TimelineRow& compute = s_.rows->rows[band.first_row];
    const RankGroup* group = band.group < 0 ? nullptr : &s_.rows->groups[static_cast<std::size_t>(band.group)];
    const bool folded = s_.plan && s_.plan->identical_ranks > 1;
    const QString name =
        group    ? (band.open ? QStringLiteral("▾ ") : QStringLiteral("▸ ")) + QString::fromStdString(group->name)
        : folded ? (s_.plan->grid.pipeline > 1 ? QString::fromStdString(place_of(*s_.plan, band.rank))
                                               : app::text::tr("every rank"))
                 : app::text::tr("rank %1").arg(band.rank);
    const QString place = group     ? QString::fromStdString(size_words(*group))
                          : folded  ? QString::fromStdString(folded_words(*s_.plan, band.rank))
                          : s_.plan ? QString::fromStdString(place_of(*s_.plan, band.rank))
                                    : QString();
    const double indent = band.member ? 12 : 0;
    const double left = area.left() + indent;
    const double width = area.width() - 10.0 - indent;
    const bool two_lines = !place.isEmpty() && band.height >= 2 * line - 4;
    double y = two_lines ? top + std::max(0.0, (std::min<double>(compute.height, band.height) - 2 * line) / 2)
                         : top + (compute.height - line) / 2;
    if (y < free_from) continue;
    TextWidths& name_font = compute.height >= 15 ? fonts_.title : fonts_.small;
    text(name_font, {left, y, width, line}, at_left,
         QFontMetricsF(name_font.font()).elidedText(name, Qt::ElideRight, width), s_.colours->text);
    free_from = y + line;
    if (two_lines) {
      text(fonts_.small, {left, y + line - 1, width, line}, at_left,
           fonts_.small.width(place) <= width ? place : place.section(QStringLiteral(" · "), 0, 0), s_.colours->dim);
      free_from += line;
    }
    // Names of the thin rows, at the right, if the rank's label leaves enough space.
    const double tiny = fonts_.tiny.font().pixelSize() + 1.0;
    double row_free = two_lines ? y + 2 * line - 2 : y + line;
    const double label_bottom = row_free;
    for (std::size_t i = 1; i < band.row_count; ++i) {
      const TimelineRow& row = s_.rows->rows[band.first_row + i];
      // If the thin rows are lower than their names, none has a name: one name among four rows would be misleading.
      if (row.kind == RowKind::communication && i + 1 < band.row_count &&
          s_.rows->rows[band.first_row + i + 1].y - row.y < tiny)
        break;
      const QString words = row.kind == RowKind::ghost ? app::text::tr("predicted")
                            : is_observed(row.lane) && s_.run
                                ? QString::fromStdString(name_of_lane(*s_.run, row.rank, row.lane))
                                : QString::fromStdString(translated(name_of_row(row.lane)));
      const double middle = area.top() + s_.rows->view_y(row, s_.scroll) + row.height / 2.0;
      const double from = middle - tiny / 2;
      const bool beside = from < label_bottom;
      const double taken =
          beside ? std::max(name_font.width(name), two_lines ? fonts_.small.width(place) : 0.0) + 8 : 0;
      if ((i > 1 && from < row_free) || taken + fonts_.tiny.width(words) > width) continue;
      text(fonts_.tiny, {left, from, width, tiny}, at_right, words, s_.colours->dim);
      row_free = from + tiny;
    }
  }
  p_.restore();
}

}  // namespace rankscope::app
