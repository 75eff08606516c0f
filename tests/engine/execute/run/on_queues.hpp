// Runs on an emulated GPU: lanes are streams with their own speeds, the host cannot access the device's memory, and the
// kernels are the real sources (tests/kernels/cuda/emulated).
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/execute/run/job.hpp"
#include "engine/prove/verify/verify.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/queue_device.hpp"
#include "tests/kernels/cuda/emulated/runtime.hpp"

namespace rankscope::on_queues {

inline constexpr int greatest_delay_us = 100;

inline RunSettings on_gpu(int delay_us = greatest_delay_us) {
  emulated::set_pace({.seed = 7, .greatest_delay_us = delay_us});
  RunSettings settings;
  settings.platform =
      std::make_shared<Platform>(Platform{kernels::cuda_device(0), kernels::cuda_kernels(), kernels::cpu_kernels()});
  settings.stress.poison = true;
  return settings;
}

struct Plan {
  std::string schedule;
  int data = 1, tensor = 1, pipeline = 1, zero = 0;
  std::string collective = "auto", offload = "none", recompute = "none";
  bool sequence_parallel = false;
  std::string data_parallel = "all-reduce";
};

inline Scenario scenario_of(const Plan& plan, const std::string& precision = "fp32") {
  Scenario s;
  s.title = "on queues";
  s.model = {"gpt", 2, 16, 2, 8, 32, true, 0.1};
  s.plan.schedule = plan.schedule;
  s.plan.data = plan.data;
  s.plan.tensor = plan.tensor;
  s.plan.pipeline = plan.pipeline;
  s.plan.zero = plan.zero;
  s.plan.collective = plan.collective;
  s.plan.offload = plan.offload;
  s.plan.recompute = plan.recompute;
  s.plan.sequence_parallel = plan.sequence_parallel;
  s.plan.data_parallel = plan.data_parallel;
  s.plan.micro_batches = 2;
  s.plan.precision = precision;
  s.plan.bucket_mib = 0.005;  // several
  s.train.global_batch = 2 * plan.data;
  s.train.optimizer = "sgd";
  s.train.clip = 0.5;
  return s;
}

inline std::string text_of(const Plan& p) {
  return p.schedule + " data " + std::to_string(p.data) + " tensor " + std::to_string(p.tensor) + " pipeline " +
         std::to_string(p.pipeline) + " ZeRO " + std::to_string(p.zero) + " " + p.collective + " offload " + p.offload +
         " recompute " + p.recompute + " " + p.data_parallel;
}

/// The events and summaries of a run: losses by step, and whether times are in order.
class RunReports : public RankObserver {
 public:
  void span(Lane lane, const Span& span) override {
    const std::lock_guard lock(mutex_);
    ++spans;
    std::int64_t& last = last_end_[{span.rank, static_cast<int>(lane)}];
    in_order = in_order && last <= span.begin_ns && span.begin_ns <= span.active_ns && span.active_ns <= span.end_ns;
    last = span.end_ns;
  }
  void memory(Lane, const MemorySample& sample) override {
    const std::lock_guard lock(mutex_);
    std::int64_t& last = last_sample_[sample.rank];
    in_order = in_order && last <= sample.time_ns;
    last = sample.time_ns;
  }
  void phase(Lane, const PhaseSpan& phase) override {
    const std::lock_guard lock(mutex_);
    ++phases;
    in_order = in_order && phase.begin_ns <= phase.end_ns;
  }
  void step_done(const StepSummary& summary, const StepTrace& trace) override {
    const std::lock_guard lock(mutex_);
    if (!std::isnan(summary.loss)) losses[summary.step] += summary.loss;  // summed over replicas
    square_norm[summary.step] += summary.gradient_square_norm;
    if (!summary.magnitudes.empty()) {
      std::vector<double>& sum = magnitudes[summary.step];
      sum.resize(summary.magnitudes.size());
      for (std::size_t b = 0; b < sum.size(); ++b) sum[b] += summary.magnitudes[b];
    }
    scales[summary.step] = summary.loss_scale;
    peak[summary.rank] = std::max(peak[summary.rank], summary.peak_total_bytes);
    for (std::size_t c = 0; c < memory_class_count; ++c)
      peaks[summary.rank][c] = std::max(peaks[summary.rank][c], summary.peak_bytes[c]);
    for (const std::int64_t cost : trace.cpu_ns) has_costs = has_costs && cost >= 0;
  }

  std::map<std::uint32_t, double> losses, square_norm, scales;
  std::map<std::uint32_t, std::vector<double>> magnitudes;
  std::map<int, std::int64_t> peak;
  std::map<int, ClassBytes> peaks;
  int spans = 0, phases = 0;
  bool in_order = true, has_costs = true;

 private:
  std::mutex mutex_;
  std::map<std::pair<int, int>, std::int64_t> last_end_;
  std::map<int, std::int64_t> last_sample_;
};

inline void run_reported(const Scenario& scenario, RunSettings settings, std::uint32_t steps, RunReports& reports) {
  settings.steps = steps;
  settings.comm.record_phases = true;
  run_loopback(compile(scenario), settings, [&](int) { return &reports; });
}

/// True if the numbers differ, or if a read finds no data yet.
inline bool is_wrong(const Scenario& scenario, const RunSettings& settings) {
  try {
    return !verify(scenario, settings).passed;
  } catch (const RunFailure&) {
    return true;
  }
}

}  // namespace rankscope::on_queues
