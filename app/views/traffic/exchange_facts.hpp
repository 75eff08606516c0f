// SPDX-License-Identifier: GPL-3.0-or-later
// Facts about a collective without known phases: its algorithm, the last rank to arrive, the waiting times of the
// others, and the bandwidth.
#pragma once
#include <QString>
#include <vector>

#include "engine/explain/analyse/exchange.hpp"

namespace rankscope::app {

struct ExchangeFact {
  QString name, value;
  QString why;  ///< how the value is computed; may be empty
};

/// In reading order. Facts that need the spans of all members are omitted if one of them is
/// missing.
std::vector<ExchangeFact> facts_of(const GroupExchange& exchange);

}  // namespace rankscope::app
