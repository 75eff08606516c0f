#include "telemetry/trace/fitted_times.hpp"

#include <algorithm>

#include "telemetry/event/message_time.hpp"
#include "telemetry/trace/trace_reader.hpp"

namespace rankscope {
namespace {

bool is_measured(const Event& event) {
  return std::visit(
      [](const auto& e) {
        if constexpr (IsBatch<decltype(e)>)
          return e.obtained == Obtained::measured;
        else
          return true;
      },
      event);
}

class Times : public EventSink {
 public:
  void accept(const Message& message) override {
    if (const auto* hello = std::get_if<Hello>(&message.event)) ranks_ = static_cast<std::size_t>(hello->ranks);
    if (const auto* clock = std::get_if<ClockRecord>(&message.event)) offsets_[clock->rank] = clock->offset_ns;
    const auto time = time_of(message.event);
    if (!time) return;
    const std::int32_t rank = is_measured(message.event) ? message.rank : -1;
    const auto [found, is_first] = times_.emplace(rank, *time);
    if (!is_first) found->second.include(*time);
  }

  bool any_clock_differs() const {
    return std::any_of(offsets_.begin(), offsets_.end(), [](const auto& entry) { return entry.second != 0; });
  }
  /// Every rank's clock has been reported, and equals rank 0's.
  bool is_one_clock() const { return ranks_ > 0 && offsets_.size() >= ranks_ && !any_clock_differs(); }

  const ClockOffsets& offsets() const { return offsets_; }

  std::optional<TimeRange> all() const {
    std::optional<TimeRange> all;
    for (const auto& [rank, time] : times_) {
      const auto offset = offsets_.find(rank);
      const std::int64_t by = offset == offsets_.end() ? 0 : offset->second;
      const TimeRange moved{time.begin_ns + by, time.end_ns + by};
      if (all)
        all->include(moved);
      else
        all = moved;
    }
    return all;
  }

 private:
  std::size_t ranks_ = 0;
  ClockOffsets offsets_;
  std::map<std::int32_t, TimeRange> times_;
};

void read_until_known(const std::string& path, Times& times) {
  ReadTraceOptions options;
  options.progress = [&](double) { return !times.is_one_clock(); };
  read_trace(path, times, options);
}

}  // namespace

ClockOffsets clock_offsets(const std::string& path) {
  Times times;
  read_until_known(path, times);
  return times.any_clock_differs() ? times.offsets() : ClockOffsets{};
}

std::int64_t offset_of(const ClockOffsets& offsets, std::int32_t rank, const Event& event) {
  const auto found = offsets.find(rank);
  return found == offsets.end() || !is_measured(event) ? 0 : found->second;
}

std::optional<TimeRange> fitted_times(const std::string& path) {
  Times times;
  read_until_known(path, times);
  return times.any_clock_differs() ? times.all() : std::nullopt;
}

}  // namespace rankscope
