// SPDX-License-Identifier: GPL-3.0-or-later
// The views that lessons may use are the window's.
#include "app/shell/view_list.hpp"

#include <algorithm>

#include "engine/lesson/lab/check.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("every view of the window can be named in a lesson, and no other can but the two panels") {
  std::vector<std::string> named(view_names().begin(), view_names().end()), there = {"plan", "lab"};
  for (const app::ViewKind& kind : app::view_kinds()) there.emplace_back(kind.name);
  std::sort(named.begin(), named.end());
  std::sort(there.begin(), there.end());
  CHECK(named == there);
}
