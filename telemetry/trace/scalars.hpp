// Scalar values computed from the summaries, for plots in other MCAP viewers.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/event/run_totals.hpp"

namespace rankscope {

using ScalarValues = std::vector<std::pair<std::string, double>>;

/// Appends the values as one JSON object, with null for non-finite values and "step" as an integer.
void append_json(std::string& text, const ScalarValues& values);

/// Gathers summaries by step; a step is reported when a summary of two steps later has arrived, or at the end.
class ScalarTopics {
 public:
  using Publish = std::function<void(const std::string& topic, std::int64_t time_ns, const ScalarValues& values)>;
  explicit ScalarTopics(Publish publish) : publish_(std::move(publish)) {}
  void accept(const StepSummary& summary);
  void finish();

 private:
  void publish_step(std::uint32_t number, const StepTotals& step);

  Publish publish_;
  std::map<std::uint32_t, StepTotals> open_;
  std::uint32_t first_unreported_ = 0;  // steps below it are reported
};

}  // namespace rankscope
