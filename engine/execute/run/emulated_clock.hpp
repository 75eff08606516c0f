// The device clock of a run: times as if each rank had its own device and links.
//
// When all ranks have finished a step, their ops' costs (CPU time of the thread; the median over the latest ops of
// equal signature on all ranks, since equal work has one cost) are laid out in the order in which each lane really ran,
// with modelled links between the ranks. The raw samples stay in the measured spans. This runs on its own thread, in
// parallel with the training.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/execute/run/observer.hpp"
#include "engine/plan/program/ledger.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "engine/predict/layout/emulate.hpp"

namespace rankscope {

class EmulatedClock {
 public:
  using Publish = std::function<void(const std::vector<Span>& spans, const std::vector<MemorySample>& memory)>;

  /// `publish` gets each step's spans of all ranks, and the live bytes around each op in this layout, counted from the
  /// first step's start on the device clock; called from the clock's thread, in order of steps. Of `costs` only the
  /// links are used. `fault.slow_rank` is slow by its factor: its measured costs are multiplied (slowed_ns).
  EmulatedClock(std::vector<RankProgram> programs, RankGrid grid, const Costs& costs, const FaultSpec& fault,
                Publish publish);
  /// Lays out and publishes every step that is complete, then ends.
  ~EmulatedClock();

  /// Any thread.
  void step_done(int rank, std::uint32_t step, const StepTrace& trace);

 private:
  struct Step {
    std::vector<StepTrace> ranks;
    int finished = 0;
  };
  /// What lays out one rank's memory.
  struct RankMemory {
    std::unordered_map<OpId, OpIndex> index;
    std::optional<Ledger> ledger;  ///< created at the first step, which reports the workspace; then unchanged
  };
  void work();
  void lay_out(std::uint32_t step, const Step& traces);
  void publish(const std::vector<Span>& spans);
  void add_memory(std::size_t rank, const std::vector<const Span*>& spans, std::vector<MemorySample>& memory);

  const std::vector<RankProgram> programs_;
  const FaultSpec fault_;
  Emulator emulator_;
  const Publish publish_;
  std::vector<RankMemory> ranks_;
  std::vector<std::vector<std::size_t>> signature_;  ///< [rank][op]: index into samples_
  std::vector<std::deque<std::int64_t>> samples_;    ///< by signature, the latest

  std::mutex mutex_;
  std::condition_variable ready_;
  std::map<std::uint32_t, Step> steps_;
  std::optional<std::uint32_t> next_;  ///< nullopt: none was reported yet; the first reported is the first step
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace rankscope
