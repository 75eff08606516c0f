// Selects the detail of a run that is kept.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// The detail that is kept: --keep all | every:N | last:TIME.
struct KeepPolicy {
  std::uint32_t every = 1;           ///< detail of steps divisible by this; other steps produce none
  std::chrono::nanoseconds last{0};  ///< the spool keeps at least this much of the latest detail; 0: all
};
/// "all", "every:10", "last:30s" (ns, us, ms, s, min, h); nullopt and a sentence in `error`.
std::optional<KeepPolicy> parse_keep(std::string_view text, std::string* error = nullptr);

}  // namespace rankscope
