#include "telemetry/trace/fitted_times.hpp"

#include <algorithm>
#include <map>

#include "telemetry/event/message_time.hpp"
#include "telemetry/trace/trace_reader.hpp"

namespace rankscope {
namespace {

struct MeasuredAt {
  template <class Batch>
  bool operator()(const Batch& batch) const {
    if constexpr (requires { batch.obtained; })
      return batch.obtained == Obtained::measured;
    else
      return true;
  }
};

class Times : public EventSink {
 public:
  void accept(const Message& message) override {
    if (const auto* hello = std::get_if<Hello>(&message.event)) ranks_ = static_cast<std::size_t>(hello->ranks);
    if (const auto* clock = std::get_if<ClockRecord>(&message.event)) offsets_[clock->rank] = clock->offset_ns;
    const auto time = time_of(message.event);
    if (!time) return;
    // What is emulated or simulated is on no rank's own clock.
    const std::int32_t rank = std::visit(MeasuredAt{}, message.event) ? message.rank : -1;
    const auto [found, is_first] = times_.emplace(rank, *time);
    if (is_first) return;
    found->second = {std::min(found->second.begin_ns, time->begin_ns), std::max(found->second.end_ns, time->end_ns)};
  }

  bool any_clock_differs() const {
    return std::any_of(offsets_.begin(), offsets_.end(), [](const auto& entry) { return entry.second != 0; });
  }
  /// Every rank's clock is known, and is rank 0's.
  bool is_one_clock() const { return ranks_ > 0 && offsets_.size() >= ranks_ && !any_clock_differs(); }

  std::optional<TimeRange> all() const {
    std::optional<TimeRange> all;
    for (const auto& [rank, time] : times_) {
      const auto offset = offsets_.find(rank);
      const std::int64_t by = offset == offsets_.end() ? 0 : offset->second;
      const TimeRange moved{time.begin_ns + by, time.end_ns + by};
      all = all ? TimeRange{std::min(all->begin_ns, moved.begin_ns), std::max(all->end_ns, moved.end_ns)} : moved;
    }
    return all;
  }

 private:
  std::size_t ranks_ = 0;
  std::map<std::int32_t, std::int64_t> offsets_;
  std::map<std::int32_t, TimeRange> times_;
};

}  // namespace

std::optional<TimeRange> fitted_times(const std::string& path) {
  Times times;
  ReadTraceOptions options;
  options.progress = [&](double) { return !times.is_one_clock(); };
  read_trace(path, times, options);
  return times.any_clock_differs() ? times.all() : std::nullopt;
}

}  // namespace rankscope
