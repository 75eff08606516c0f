// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/store_filler.hpp"

namespace rankscope::app {

void StoreFiller::add(int rank, Event event) {
  Counts& counts = counts_[rank];
  if (is_control(event)) ++counts.control;
  store_.accept({session_, rank, ++counts.messages, counts.control, std::move(event)});
}

}  // namespace rankscope::app
