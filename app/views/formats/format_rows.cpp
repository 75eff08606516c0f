// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/formats/format_rows.hpp"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/views/common/data_view.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double line = 19, row_gap = 12, name_width = 52, field_gap = 5, head = 24, bit_height = 17;
constexpr double words_least = 270, least_cell = 11, most_cell = 19, words_gap = 18;
constexpr int most_bits = 32;

std::size_t index_of(NumberFormat format) { return static_cast<std::size_t>(format); }

}  // namespace

BitField field_of(NumberFormat format, int bit) {
  const FormatFacts& f = facts_of(format);
  return bit == f.bits() - 1 ? BitField::sign : bit >= f.mantissa_bits ? BitField::exponent : BitField::mantissa;
}

FormatRows::FormatRows(QWidget* parent) : PaintedWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setProperty(own_keys_property, true);
  setAccessibleName(tr("Bits of the number in each format"));
  setAccessibleDescription(tr("Arrow keys choose a bit, Space flips it"));
  at_ = {NumberFormat::fp32, facts_of(NumberFormat::fp32).bits() - 1};
  fit();
}

void FormatRows::show_number(const FormatNumber& number) {
  number_ = number;
  update();
}

bool FormatRows::is_wide() const {
  return width() >= 2 * view_margin + name_width + most_bits * least_cell + 2 * field_gap + words_gap + words_least;
}

double FormatRows::row_height() const { return lines() * line + row_gap; }

void FormatRows::fit() {
  setMinimumSize(least_width(), qRound(head + static_cast<double>(every_number_format.size()) * row_height()));
}

void FormatRows::resizeEvent(QResizeEvent*) { fit(); }

double FormatRows::cell_width() const {
  const double others = 2 * view_margin + name_width + 2 * field_gap + (is_wide() ? words_gap + words_least : 0);
  return std::clamp(std::floor((width() - others) / most_bits), least_cell, most_cell);
}

double FormatRows::words_left() const {
  return view_margin + name_width + most_bits * cell_width() + 2 * field_gap + words_gap;
}

QRectF FormatRows::box_of(NumberFormat format, int bit) const {
  const FormatFacts& f = facts_of(format);
  const double wide = cell_width();
  const int from_left = f.bits() - 1 - bit;
  const BitField field = field_of(format, bit);
  const double gaps = field == BitField::sign ? 0 : field == BitField::mantissa && !f.is_integer() ? 2 : 1;
  return {view_margin + name_width + from_left * wide + gaps * field_gap,
          head + static_cast<double>(index_of(format)) * row_height() + 1, wide, bit_height};
}

std::optional<FormatRows::Place> FormatRows::place_at(QPointF at) const {
  for (const NumberFormat format : every_number_format)
    for (int bit = 0; bit < facts_of(format).bits(); ++bit)
      if (box_of(format, bit).contains(at)) return Place{format, bit};
  return std::nullopt;
}

Argb FormatRows::colour_of(BitField field) const {
  switch (field) {
    case BitField::sign: return colours().of(SpanClass::backward);
    case BitField::exponent: return colours().of(SpanClass::forward);
    case BitField::mantissa: return colours().of(SpanClass::weight_gradient);
  }
  return colours().text;
}

void FormatRows::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), color(colours().ground));
  painter.setFont(interface_font());
  paint_legend(painter, {static_cast<double>(view_margin), 2}, width() - 2.0 * view_margin, colours(),
               {{colour_of(BitField::sign), tr("sign")},
                {colour_of(BitField::exponent), tr("exponent")},
                {colour_of(BitField::mantissa), tr("mantissa; of int8 the whole number")}});
  for (const NumberFormat format : every_number_format) {
    const double y = head + static_cast<double>(index_of(format)) * row_height();
    paint_bits(painter, format, y);
    paint_words(painter, format, y);
    painter.setPen(color(colours().line));
    painter.drawLine(QPointF(view_margin, y - row_gap / 2), QPointF(width() - view_margin, y - row_gap / 2));
  }
}

// A set bit is filled, others have only an outline.
void FormatRows::paint_bits(QPainter& painter, NumberFormat format, double y) const {
  const FormatFacts& f = facts_of(format);
  painter.setFont(bold_font());
  draw_text(painter, QRectF(view_margin, y, name_width, line), at_left, text::utf8(f.name), colours().text);
  painter.setFont(number_font());
  const std::uint32_t bits = number_.stored_in(format).bits;
  for (int bit = 0; bit < f.bits(); ++bit) {
    const QRectF box = box_of(format, bit).adjusted(0.5, 0.5, -1.5, -0.5);
    const bool set = (bits >> bit & 1) != 0;
    const Argb colour = colour_of(field_of(format, bit));
    painter.setPen(QPen(color(colour), 1));
    painter.setBrush(set ? QBrush(color(colour)) : QBrush(Qt::NoBrush));
    painter.drawRect(box);
    draw_text(painter, box, Qt::AlignCenter, set ? QStringLiteral("1") : QStringLiteral("0"),
              set ? colours().ink_on(colour) : colours().dim);
  }
  if (!hasFocus() || at_.format != format) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(color(colours().accent), 2));
  painter.drawRect(box_of(format, at_.bit).adjusted(-1, -1, 0, 1));
}

void FormatRows::paint_words(QPainter& painter, NumberFormat format, double y) const {
  const StoredNumber stored = number_.stored_in(format);
  const StoredUpdate update = number_.updated_in(format);
  const double scale = number_.scale_of(format), left = view_margin + name_width;
  const bool wide = is_wide();
  const double right = wide ? words_left() : left, wide_enough = width() - right - view_margin;
  double at = y + (wide ? 0 : 3 * line);
  const auto write = [&](double x, double from, double room, const QString& words, Argb ink, const QFont& font) {
    painter.setFont(font);
    draw_line(painter, QRectF(x, from, room, line), at_left, words, ink);
    return QFontMetricsF(font).horizontalAdvance(words);
  };
  const double left_room = (wide ? words_left() - words_gap : width() - view_margin) - left;
  write(left, y + line, left_room, parts_words(format, stored.bits, scale), colours().dim, number_font());
  write(left, y + 2 * line, left_room, range_words(format, scale), colours().dim, interface_font());
  const double used =
      write(right, at, wide_enough, number_words(stored.value), colours().text, bold_font(number_font())) + 12;
  const bool bad = stored.outcome == RoundingOutcome::overflow || stored.outcome == RoundingOutcome::underflow;
  if (used < wide_enough)
    write(right + used, at, wide_enough - used, outcome_words(format, stored), bad ? colours().bad : colours().dim,
          interface_font());
  write(right, at + line, wide_enough, error_words(stored), colours().dim, interface_font());
  write(right, at + 2 * line, wide_enough, update_words(update), update.lost() ? colours().bad : colours().good,
        interface_font());
}

void FormatRows::mousePressEvent(QMouseEvent* event) {
  const auto place = event->button() == Qt::LeftButton ? place_at(event->position()) : std::nullopt;
  if (!place) return QWidget::mousePressEvent(event);
  at_ = *place;
  emit number_wanted(number_.flipped(place->format, place->bit));
}

void FormatRows::mouseMoveEvent(QMouseEvent* event) {
  setCursor(place_at(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

// Left moves to a higher bit, as drawn; up and down keep the column.
void FormatRows::keyPressEvent(QKeyEvent* event) {
  const auto last = static_cast<int>(every_number_format.size()) - 1;
  const int row = static_cast<int>(index_of(at_.format)), bits = facts_of(at_.format).bits();
  const auto to_row = [&](int requested) {
    const NumberFormat format = every_number_format[static_cast<std::size_t>(std::clamp(requested, 0, last))];
    const int from_left = bits - 1 - at_.bit, others = facts_of(format).bits();
    at_ = {format, std::max(0, others - 1 - from_left)};
  };
  switch (event->key()) {
    case Qt::Key_Left: at_.bit = std::min(at_.bit + 1, bits - 1); break;
    case Qt::Key_Right: at_.bit = std::max(at_.bit - 1, 0); break;
    case Qt::Key_Home: at_.bit = bits - 1; break;
    case Qt::Key_End: at_.bit = 0; break;
    case Qt::Key_Up: to_row(row - 1); break;
    case Qt::Key_Down: to_row(row + 1); break;
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter: emit number_wanted(number_.flipped(at_.format, at_.bit)); return;
    default: return QWidget::keyPressEvent(event);
  }
  emit moved(box_of(at_.format, at_.bit).toAlignedRect());
  update();
}

QString FormatRows::tip_at(QPoint at) const {
  if (const auto place = place_at(at)) {
    const QString name = text::utf8(facts_of(place->format).name);
    QString field;
    switch (field_of(place->format, place->bit)) {
      case BitField::sign: field = tr("the sign"); break;
      case BitField::exponent: field = tr("exponent"); break;
      case BitField::mantissa:
        field = facts_of(place->format).is_integer() ? tr("whole number") : tr("mantissa");
        break;
    }
    return tr("%1, bit %2: %3. A click flips it, and the number follows.").arg(name).arg(place->bit).arg(field);
  }
  const auto row = static_cast<int>(std::floor((at.y() - head) / row_height()));
  if (at.y() < head || row >= static_cast<int>(every_number_format.size())) return {};
  const NumberFormat format = every_number_format[static_cast<std::size_t>(row)];
  const StoredNumber stored = number_.stored_in(format);
  return QStringList{text::utf8(facts_of(format).name),
                     number_words(stored.value) + QStringLiteral(", ") + outcome_words(format, stored),
                     error_words(stored),
                     update_words(number_.updated_in(format)),
                     parts_words(format, stored.bits, number_.scale_of(format)),
                     range_words(format, number_.scale_of(format))}
      .join(QLatin1Char('\n'));
}

}  // namespace rankscope::app
