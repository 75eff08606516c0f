#include "telemetry/trace/fitted_times.hpp"

#include <algorithm>
#include <map>

#include "telemetry/event/message_time.hpp"
#include "telemetry/trace/trace_reader.hpp"

namespace rankscope {
namespace {

struct WasMeasured {
  template <class Batch>
  bool operator()(const Batch& batch) const {
    if constexpr (requires { batch.obtained; })
      return batch.obtained == Obtained::measured;
    else
      return true;
  }
};
bool is_measured(const Event& event) { return std::visit(WasMeasured{}, event); }

class Times : public EventSink {
 public:
  void accept(const Message& message) override {
    if (const auto* hello = std::get_if<Hello>(&message.event)) ranks_ = static_cast<std::size_t>(hello->ranks);
    if (const auto* clock = std::get_if<ClockRecord>(&message.event)) offsets_[clock->rank] = clock->offset_ns;
    const auto time = time_of(message.event);
    if (!time) return;
    const std::int32_t rank = is_measured(message.event) ? message.rank : -1;
    const auto [found, is_first] = times_.emplace(rank, *time);
    if (is_first) return;
    found->second = {std::min(found->second.begin_ns, time->begin_ns), std::max(found->second.end_ns, time->end_ns)};
  }

  bool any_clock_differs() const {
    return std::any_of(offsets_.begin(), offsets_.end(), [](const auto& entry) { return entry.second != 0; });
  }
  /// Every rank's clock is known, and is rank 0's.
  bool is_one_clock() const { return ranks_ > 0 && offsets_.size() >= ranks_ && !any_clock_differs(); }

  const ClockOffsets& offsets() const { return offsets_; }

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
