// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/facts_table.hpp"

#include <algorithm>
#include <cmath>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/traffic/exchange_sizes.hpp"

namespace rankscope::app {
namespace {

using text::tr;
using Why = FactsForm::Why;

constexpr int facts_head = 24, between_columns = 14;

}  // namespace

std::array<double, 3> FactsTable::widths() const {
  const QFontMetricsF metrics(interface_font()), numbers(number_font());
  std::array<double, 3> widths{};
  for (const ExchangeFact& fact : facts_) {
    widths[0] = std::max(widths[0], std::ceil(metrics.horizontalAdvance(fact.name)) + between_columns);
    widths[1] = std::max(widths[1], std::ceil(numbers.horizontalAdvance(fact.value)) + between_columns);
    widths[2] = std::max(widths[2], std::ceil(metrics.horizontalAdvance(fact.why)));
  }
  return widths;
}

double FactsTable::width(const FactsForm& form) const {
  const auto column = widths();
  return column[0] + column[1] + (form.why == Why::behind ? column[2] : 0);
}

double FactsTable::height(const FactsForm& form, double width) const {
  double height = facts_head;
  for (std::size_t i = form.first; i < facts_.size(); ++i) {
    const ExchangeFact& fact = facts_[i];
    height += form.line;
    if (form.why == Why::beneath && !fact.why.isEmpty()) height += exchange::height_of(fact.why, false, width) + 2;
  }
  return height;
}

void FactsTable::paint(QPainter& painter, const QRectF& area, const FactsForm& form, const Palette& colours) const {
  const auto column = widths();
  const auto draw = [&](const QRectF& place, const QString& words, const QFont& font, Argb colour, int flags) {
    painter.setFont(font);
    draw_text(painter, place, flags, words, colour);
  };
  draw(QRectF(area.left(), area.top(), area.width(), 18), tr("facts"), interface_font(), colours.dim, at_left);
  double y = area.top() + facts_head;
  for (std::size_t i = form.first; i < facts_.size(); ++i) {
    const ExchangeFact& fact = facts_[i];
    const bool last = i + 1 == facts_.size();
    if (!last && y + 2 * form.line > area.bottom() + 0.5) {
      draw(QRectF(area.left(), y, area.width(), form.line), tr("%1 more in a larger view").arg(facts_.size() - i),
           interface_font(), colours.dim, at_left);
      return;
    }
    draw(QRectF(area.left(), y, column[0], form.line), fact.name, interface_font(), colours.dim, at_left);
    draw(QRectF(area.left() + column[0], y, column[1], form.line), fact.value, number_font(), colours.text, at_left);
    if (form.why == Why::behind)
      draw(QRectF(area.left() + column[0] + column[1], y, column[2] + 1, form.line), fact.why, interface_font(),
           colours.dim, at_left);
    y += form.line;
    if (form.why != Why::beneath || fact.why.isEmpty()) continue;
    const double height = exchange::height_of(fact.why, false, area.width());
    draw(QRectF(area.left(), y - 1, area.width(), height), fact.why, interface_font(), colours.dim, exchange::wrapped);
    y += height + 2;
  }
}

}  // namespace rankscope::app
