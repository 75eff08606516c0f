// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/exchange_facts.hpp"

#include <algorithm>

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

using text::tr;

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
  facts.push_back({tr("size"), text::bytes(size), tr("the whole buffer, over %1 ranks").arg(exchange.size())});
  if (!factor_words(exchange.kind).isEmpty())
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
  if (shortest > 0)
    facts.push_back({tr("bus bandwidth"), text::bandwidth(size * factor / (static_cast<double>(shortest) * 1e-9)),
                     tr("size%1 over that time").arg(factor_words(exchange.kind))});
  return facts;
}

}  // namespace rankscope::app
