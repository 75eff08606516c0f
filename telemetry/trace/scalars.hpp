// Scalar values computed from the summaries, for plots in other MCAP viewers.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/event/event.hpp"

namespace rankscope {

using ScalarValues = std::vector<std::pair<std::string, double>>;

/// Appends the values as one JSON object, what is not finite as null and "step" as a whole number.
void append_json(std::string& text, const ScalarValues& values);

/// Gathers summaries by step; a step is reported when a summary of two steps later has arrived, or at the end.
class ScalarTopics {
 public:
  using Publish = std::function<void(const std::string& topic, std::int64_t time_ns, const ScalarValues& values)>;
  explicit ScalarTopics(Publish publish) : publish_(std::move(publish)) {}
  void accept(const StepSummary& summary);
  void finish();

 private:
  struct Step {
    std::int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN, tokens = 0;
    double weighted_loss = 0, square_norm = 0, learning_rate = 0, loss_scale = 0;
    std::int64_t loss_tokens = 0;
    double joules = 0;
    bool counted = false, energy_known = true;
  };
  void publish_step(std::uint32_t number, const Step& step);

  Publish publish_;
  std::map<std::uint32_t, Step> open_;
  std::uint32_t first_unreported_ = 0;  // steps below it are reported
};

}  // namespace rankscope
