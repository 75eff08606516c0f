// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/headline.hpp"

namespace rankscope::app {

Obtained headline_of(const StoreView& view) {
  const Hello* hello = view.hello();
  const bool device = hello != nullptr && hello->headline == ClockDomain::device;
  if (device && !view.extent(Obtained::emulated).empty()) return Obtained::emulated;
  if (!view.extent(Obtained::measured).empty()) return Obtained::measured;
  return view.extent(Obtained::simulated).empty() ? Obtained::measured : Obtained::simulated;
}

}  // namespace rankscope::app
