// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/hand_order.hpp"

#include <charconv>
#include <stdexcept>

#include "engine/plan/program/compile.hpp"

namespace rankscope::app {
namespace {

/// "line 3: why" in its two parts.
void take_apart(const std::string& what, OrderCheck& check) {
  check.message = what;
  constexpr std::string_view head = "line ";
  if (what.compare(0, head.size(), head) != 0) return;
  const auto colon = what.find(": ");
  if (colon == std::string::npos) return;
  std::from_chars(what.data() + head.size(), what.data() + colon, check.line);
  check.message = what.substr(colon + 2);
}

/// The first word in quotes.
std::string quoted_in(const std::string& message) {
  const auto begin = message.find('\'');
  const auto end = begin == std::string::npos ? begin : message.find('\'', begin + 1);
  return end == std::string::npos ? std::string() : message.substr(begin + 1, end - begin - 1);
}

}  // namespace

std::string order_text(const PlanSpec& plan) {
  return plan.schedule == ScheduleKind::by_hand ? plan.order : to_text(schedule_of(plan));
}

void choose_schedule(PlanSpec& plan, ScheduleKind schedule) {
  if (plan.schedule == schedule) return;
  if (schedule == ScheduleKind::by_hand) {
    try {
      plan.order = order_text(plan);
    } catch (const std::invalid_argument&) {
      plan.order.clear();
    }
  } else {
    plan.order.clear();
  }
  plan.schedule = schedule;
  plan.weight_stashing = plan.weight_stashing && plan.updates_each_micro_batch();
}

OrderCheck check_order(const std::string& text, const PlanSpec& plan) {
  OrderCheck check;
  try {
    const ChunkSchedule schedule = by_hand_schedule(text, shape_of(plan));
    check.ideal_bubble = ideal_bubble(schedule);
    check.units = unit_ops(schedule);
    check.ok = true;
  } catch (const std::invalid_argument& error) {
    take_apart(error.what(), check);
    check.token = quoted_in(check.message);
  }
  return check;
}

}  // namespace rankscope::app
