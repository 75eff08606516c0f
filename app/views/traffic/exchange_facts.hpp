// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a collective without its phases: by whose algorithm it ran, who came last, how long the others
// waited, and how fast bytes then moved.
#pragma once
#include <QString>
#include <vector>

#include "engine/explain/analyse/exchange.hpp"

namespace rankscope::app {

struct ExchangeFact {
  QString name, value;
  QString why;  ///< how the value is made; may be empty
};

/// In the order in which they are read. What its members' spans would tell is left out where one of them is not here.
std::vector<ExchangeFact> facts_of(const GroupExchange& exchange);

}  // namespace rankscope::app
