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

QString rank_words(const GroupExchange& exchange, std::size_t member) {
  return tr("rank %1").arg(exchange.ranks[member]);
}

/// The factor of bus_factor, as text.
QString factor_words(OpKind kind) {
  switch (kind) {
    case OpKind::all_reduce: return QStringLiteral(" × 2(n−1)/n");
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
    case OpKind::all_to_all:
    case OpKind::gather:
    case OpKind::scatter: return QStringLiteral(" × (n−1)/n");
    default: return {};
  }
}

}  // namespace

std::vector<ExchangeFact> facts_of(const GroupExchange& exchange) {
  const auto size = static_cast<double>(exchange.bytes);
  const double factor = bus_factor(exchange.kind, exchange.size());
  std::vector<ExchangeFact> facts;
  facts.push_back({tr("algorithm"), tr("the library's own"), tr("its phases are not known")});
  const bool sized = exchange.bytes >= 0;
  facts.push_back({tr("size"), sized ? text::bytes(size) : text::unknown(),
                   sized ? tr("the whole buffer, over %1 ranks").arg(exchange.size())
                         : tr("the trace does not say it; over %1 ranks").arg(exchange.size())});
  if (sized && !factor_words(exchange.kind).isEmpty())
    facts.push_back(
        {tr("a ring would send"), text::bytes(size * factor), tr("per rank: size%1").arg(factor_words(exchange.kind))});
  const bool whole = std::all_of(exchange.spans.begin(), exchange.spans.end(),
                                 [](const std::optional<Span>& span) { return span.has_value(); });
  if (!whole || exchange.spans.empty()) return facts;

  std::size_t first = 0, last = 0;
  std::int64_t waited = 0, longest = 0, shortest = INT64_MAX;
  for (std::size_t m = 0; m < exchange.spans.size(); ++m) {
    const Span& span = *exchange.spans[m];
    if (span.begin_ns < exchange.spans[first]->begin_ns) first = m;
    if (span.begin_ns > exchange.spans[last]->begin_ns) last = m;
    waited += span.active_ns - span.begin_ns;
    longest = std::max(longest, span.active_ns - span.begin_ns);
    shortest = std::min(shortest, span.end_ns - span.active_ns);
  }
  const std::int64_t apart = exchange.spans[last]->begin_ns - exchange.spans[first]->begin_ns;
  facts.push_back(apart > 0 ? ExchangeFact{tr("last to arrive"), rank_words(exchange, last),
                                           tr("%1 after %2").arg(text::nanoseconds(apart), rank_words(exchange, first))}
                            : ExchangeFact{tr("last to arrive"), tr("all at once"), {}});
  facts.push_back({tr("waiting"), text::nanoseconds(waited / exchange.size()),
                   tr("on average; at most %1").arg(text::nanoseconds(longest))});
  facts.push_back({tr("moving bytes"), text::nanoseconds(shortest), tr("of the fastest rank")});
  if (shortest > 0 && sized)
    facts.push_back({tr("bus bandwidth"), text::bandwidth(size * factor / (static_cast<double>(shortest) * 1e-9)),
                     tr("size%1 over that time").arg(factor_words(exchange.kind))});
  return facts;
}

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
