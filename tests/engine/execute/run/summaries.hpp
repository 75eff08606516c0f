// Stores every summary that the ranks of a run report.
#pragma once
#include <mutex>
#include <vector>

#include "engine/execute/run/observer.hpp"

namespace rankscope::testing {

class Summaries : public RankObserver {
 public:
  void span(Lane, const Span&) override {}
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& summary, const StepTrace&) override {
    const std::lock_guard lock(mutex_);
    all.push_back(summary);
  }
  std::vector<StepSummary> all;

 private:
  std::mutex mutex_;
};

}  // namespace rankscope::testing
