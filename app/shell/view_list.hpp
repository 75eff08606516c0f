// SPDX-License-Identifier: GPL-3.0-or-later
// The table of the window's views: their names, titles, factories, and contents.
#pragma once
#include <cstdint>
#include <span>

#include "app/models/navigator.hpp"
#include "app/session/session.hpp"
#include "app/views/common/data_view.hpp"

namespace rankscope::app {

/// The subjects of questions. A view that shows one is hidden until the question is answered.
namespace shows {
inline constexpr std::uint8_t shares = 1, memory = 2, traffic = 4, training = 8, paths = 16;
}  // namespace shows

/// The arguments of the views' constructors.
struct ViewParts {
  SharedState& state;
  Session& session;
  Navigator& navigator;
  QWidget* parent;
};

struct ViewKind {
  const char *name, *title;  ///< for --view; on its tab
  std::uint8_t shows;        ///< flags of namespace shows, combined
  DataView* (*make)(const ViewParts& parts);
};

/// In the order of the window: the time line, then the tabs.
std::span<const ViewKind> view_kinds();

}  // namespace rankscope::app
