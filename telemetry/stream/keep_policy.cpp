#include "telemetry/stream/keep_policy.hpp"

#include <charconv>
#include <limits>
#include <utility>

namespace rankscope {

std::optional<KeepPolicy> parse_keep(std::string_view text, std::string* error) {
  const auto fail = [&]() -> std::optional<KeepPolicy> {
    if (error)
      *error =
          "'" + std::string(text) + "' does not select details; use all, every:N (steps) or last:TIME, as in last:30s";
    return std::nullopt;
  };
  KeepPolicy keep;
  if (text == "all") return keep;
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return fail();
  const std::string_view word = text.substr(0, colon), value = text.substr(colon + 1);
  std::uint32_t number = 0;
  const auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (bad != std::errc{} || number == 0) return fail();
  const std::string_view unit = value.substr(static_cast<std::size_t>(end - value.data()));
  if (word == "every" && unit.empty()) {
    keep.every = number;
    return keep;
  }
  if (word != "last") return fail();
  constexpr std::pair<std::string_view, std::int64_t> units[] = {{"ns", 1},
                                                                 {"us", 1'000},
                                                                 {"ms", 1'000'000},
                                                                 {"s", 1'000'000'000},
                                                                 {"min", 60'000'000'000},
                                                                 {"h", 3'600'000'000'000}};
  for (const auto& [name, ns] : units)
    if (unit == name && number <= std::numeric_limits<std::int64_t>::max() / ns) {
      keep.last = std::chrono::nanoseconds(number * ns);
      return keep;
    }
  return fail();
}

}  // namespace rankscope
