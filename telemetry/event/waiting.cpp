#include "telemetry/event/waiting.hpp"

#include <algorithm>

namespace rankscope {

void set_waiting(std::span<Span* const> members) {
  std::int64_t last = INT64_MIN;
  for (const Span* span : members) {
    if (span->active_ns > span->begin_ns) return;
    last = std::max(last, span->begin_ns);
  }
  for (Span* span : members)
    if (last < span->end_ns) span->active_ns = last;
}

}  // namespace rankscope
