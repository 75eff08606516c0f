// The analysis of one step of one run: spans are joined to the ops of the program; every nanosecond of every rank's
// compute lane has one class, and every idle stretch one cause.
//
// Terms: `bubble` is compute idle while waiting for a peer. Transfers without overlapping compute are exposed
// communication, by purpose. Where data are missing the time is unknown, never idle.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/op/not_known.hpp"
#include "engine/op/time_class.hpp"
#include "engine/plan/program/program.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "engine/step/step.hpp"
#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope {

/// The class under which exposed communication of a purpose is counted: tensor and loss → tensor; the two pipeline
/// directions and the tied embedding's sum between stages → pipeline; gradients, norm, parameter server and a
/// main device → data; ZeRO's two → zero. `none` → other.
TimeClass time_class_of(Purpose purpose);
/// The class of a compute-lane op: forward, backward and its halves → compute; recompute, optimizer their own.
TimeClass time_class_of(OpKind kind);

/// Shares of the step's time on one rank (or averaged over ranks); they sum to 1.
struct StepShares {
  std::array<double, time_class_count> share{};
  double unknown = 0;  ///< the part of `other` where data are missing; the rest of it is overhead and host work

  double operator[](TimeClass time) const { return share[static_cast<std::size_t>(time)]; }
  double& operator[](TimeClass time) { return share[static_cast<std::size_t>(time)]; }
  double sum() const;
};

/// Why a range of the compute lane is idle.
enum class BubbleCause : std::uint8_t {
  warm_up,                ///< before the rank's first op: the pipeline fills
  first_gradient,         ///< after its first forward and before its first backward: waiting for the first gradient
  cool_down,              ///< after its last forward: the pipeline drains
  schedule,               ///< between these; also with equal stages and free links (naive schedules)
  peers,                  ///< others compute, in a plan without a pipeline to fill and drain
  imbalance,              ///< would not exist if all ranks had the same amount of compute
  exposed_communication,  ///< bytes moved, here or on the chain of ops waited for; see `purpose`
  straggler,              ///< would not exist if no rank took longer than others for equal work
  workers,                ///< a parameter server has no work until a worker sends or receives; counted as other
  overhead,               ///< no wait for another rank: launching, waking up, loading a batch; a server's own update
  unknown,                ///< the spans that show it are missing
};
std::string_view name_of(BubbleCause cause);

/// An idle range of a rank's compute lane, with one cause. The ranges of a rank are disjoint, ordered, and cover
/// all its idle time in the step.
struct BubbleStretch {
  std::int32_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  BubbleCause cause = BubbleCause::unknown;
  TimeClass time = TimeClass::bubble;  ///< where it is counted: bubble; the purpose's class where this rank itself
                                       ///< moved bytes; other for overhead, unknown, workers; optimizer for
                                       ///< a server's update
  Purpose purpose = Purpose::none;     ///< of exposed communication
  std::int32_t waits_for_rank = -1;    ///< whose op ran meanwhile; -1: none
  OpId waits_for_op;                   ///< that op; not valid() if none
  OpId next;                           ///< this rank's compute op that could not start; not valid() at the step's end
  std::int64_t length_ns() const { return end_ns - begin_ns; }
  bool operator==(const BubbleStretch&) const = default;
};

struct StepAnalysis {
  std::uint32_t step = 0;
  TimeRange range;
  std::vector<StepShares> ranks;  ///< [rank]
  std::vector<bool> absent;       ///< [rank]: of an imported run, without a trace: all of its time is unknown
  int workers = 0;                ///< ranks that have a model to compute: parameter servers have none, nor absent ranks
  StepShares average;             ///< over the workers
  /// Share of (step time × workers) that compute is idle while waiting for a peer.
  double bubble = not_known;
  /// The same from the first to the last op of model compute of each rank, over the sum of those times. (Optimizer ops
  /// do not count: clipping makes all ranks end the step together, and the textbook's figure has no optimizer.)
  double bubble_span = not_known;
  std::vector<BubbleStretch> stretches;  ///< by rank and begin
  /// [rank]: its time for compute that other ranks also have, divided by the median of the others; 1 if no other rank
  /// has equal work. Empty if no rank waited for another's compute.
  std::vector<double> slowness;
  std::int64_t missing_spans = 0;  ///< ops of the programs without a span in this step

  double seconds() const { return static_cast<double>(range.length()) * 1e-9; }
};

/// What a step was planned as: needed to lay it out again with other times.
struct Planned {
  const std::vector<RankProgram>* programs = nullptr;  ///< [rank]: those that the step was linked from
  RankGrid grid;
};

/// Analyses the step `number` over `range`. `spans`: all of the step, of one clock, obtained one way, on aligned
/// clocks, in any order; ops of the neighbouring steps that overlap with `range` should be among them, since a step is
/// not a barrier. The cost is n log n in spans, plus three layouts of the step if ranks waited for each other (see
/// causes.hpp). Of a step that nobody planned no cause is found by laying it out again (imbalance, stragglers), and
/// `slowness` is empty.
StepAnalysis analyse_step(const Step& linked, const std::vector<Span>& spans, TimeRange range, std::uint32_t number,
                          std::optional<Planned> planned = {});
/// Links the programs first.
StepAnalysis analyse_step(const std::vector<RankProgram>& programs, const RankGrid& grid,
                          const std::vector<Span>& spans, TimeRange range, std::uint32_t number);

/// From the step's first compute op on any rank to the next step's, or to the last end of its own ops where `spans` has
/// no later step. Empty when the step has no compute op here.
TimeRange step_range(const std::vector<Span>& spans, std::uint32_t step);

/// One step of a simulation or an emulated run; by default the steady one of a prediction (steady_step).
StepAnalysis analyse_simulation(const Step& linked, const Planned& planned, const Simulation& simulation,
                                std::int64_t step = -1);
/// Links the programs first.
StepAnalysis analyse_simulation(const std::vector<RankProgram>& programs, const RankGrid& grid,
                                const Simulation& simulation, std::int64_t step = -1);

}  // namespace rankscope
