#include "telemetry/trace/scalars.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace rankscope {
namespace {
constexpr std::int32_t plotted_ranks = 256;  // each rank's memory is a separate topic
}

void append_json(std::string& text, const ScalarValues& values) {
  char number[32];
  text += '{';
  for (const auto& [name, value] : values) {
    if (text.back() != '{') text += ',';
    text += '"';
    text += name;  // our own name: no character needs an escape
    text += "\":";
    if (!std::isfinite(value)) {
      text += "null";
      continue;
    }
    const auto end = name == "step" ? std::to_chars(number, number + sizeof number, static_cast<std::int64_t>(value))
                                    : std::to_chars(number, number + sizeof number, value);
    text.append(number, end.ptr);
  }
  text += '}';
}

void ScalarTopics::accept(const StepSummary& summary) {
  if (summary.rank < plotted_ranks) {
    ScalarValues memory{{"step", summary.step}, {"peak", static_cast<double>(summary.peak_total_bytes)}};
    for (int c = 0; c < memory_class_count; ++c)
      memory.emplace_back(name_of(static_cast<MemoryClass>(c)),
                          static_cast<double>(summary.peak_bytes[static_cast<std::size_t>(c)]));
    publish_(fmt::format("/memory/rank_{}", summary.rank), summary.end_ns, memory);
  }
  if (summary.step < first_unreported_) return;  // too late for its step's sum
  open_[summary.step].add(summary);
  while (!open_.empty() && std::uint64_t{open_.begin()->first} + 2 <= summary.step) {
    publish_step(open_.begin()->first, open_.begin()->second);
    first_unreported_ = open_.begin()->first + 1;
    open_.erase(open_.begin());
  }
}

void ScalarTopics::finish() {
  for (const auto& [number, step] : open_) publish_step(number, step);
  open_.clear();
}

void ScalarTopics::publish_step(std::uint32_t number, const StepTotals& step) {
  const auto one = [&](const char* topic, const char* name, double value) {
    publish_(topic, step.end_ns, {{"step", number}, {name, value}});
  };
  const double seconds = static_cast<double>(step.end_ns - step.begin_ns) * 1e-9;
  if (std::isfinite(step.loss())) one("/loss", "loss", step.loss());
  if (step.square_norm > 0) one("/gradient_norm", "norm", std::sqrt(step.square_norm));
  one("/learning_rate", "rate", step.learning_rate);
  if (step.loss_scale > 0) one("/loss_scale", "scale", step.loss_scale);
  if (step.counters > 0 && step.energy_ranks == step.ranks) {
    one("/energy", "joules", step.joules);
    if (seconds > 0) one("/power", "watts", step.joules / seconds);
  }
  one("/step_seconds", "seconds", seconds);
  if (seconds > 0) one("/tokens_per_second", "rate", static_cast<double>(step.tokens) / seconds);
}

}  // namespace rankscope
