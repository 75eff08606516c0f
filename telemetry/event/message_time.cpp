#include "telemetry/event/message_time.hpp"

#include <iterator>

namespace rankscope {

std::optional<TimeRange> time_of(const Event& event) {
  return std::visit(
      [](const auto& e) -> std::optional<TimeRange> {
        if constexpr (IsBatch<decltype(e)>) {
          if (e.rows.empty()) return std::nullopt;
          TimeRange range = time_of(e.rows.front());
          for (const auto& row : e.rows) range.include(time_of(row));
          return range;
        } else if constexpr (requires { e.at_ns; }) {
          return TimeRange{e.at_ns, e.at_ns};
        } else if constexpr (requires { e.begin_ns; }) {
          return TimeRange{e.begin_ns, e.end_ns};
        } else {
          return std::nullopt;
        }
      },
      event);
}

std::int64_t rows_of(const Event& event) {
  return std::visit(
      [](const auto& e) -> std::int64_t {
        if constexpr (IsBatch<decltype(e)>)
          return std::ssize(e.rows);
        else
          return 1;
      },
      event);
}

}  // namespace rankscope
