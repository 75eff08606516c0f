// The numbers of a run: the only source for --json, `rankscope-trace stats` and the window.
//
// Unknown values are NaN or an empty optional, and null in JSON.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/explain/analyse/gap.hpp"
#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/op/not_known.hpp"
#include "engine/plan/program/program.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "telemetry/event/run_totals.hpp"

namespace rankscope {

/// The spans of one step, obtained one way. `range` is empty if only the spans are known (step_range finds it).
struct ObservedStep {
  std::uint32_t step = 0;
  Obtained obtained = Obtained::measured;
  ClockDomain clock = ClockDomain::wall;
  TimeRange range;
  /// The step's, and those of neighbouring steps that ran meanwhile (analyse_step); empty if only the range is
  /// kept.
  std::vector<Span> spans;
  /// Of an imported run, in place of programs.
  std::shared_ptr<const Step> linked{};
};

/// What a report states of its run, or of a plan that has not run yet, as it was given.
struct RunDescription {
  std::string title;
  std::string token_word = "token";  ///< unit of tokens: images for a resnet (ModelSpec::token_word)
  std::string task;                  ///< of a single collective: its description; it trains nothing
  bool is_imported = false;          ///< another program's run: it has no plan, and nothing is predicted
  PlanSpec plan;
  /// How the run's headline numbers are obtained, and their clock.
  Obtained obtained = Obtained::measured;
  ClockDomain clock = ClockDomain::wall;
  double loss_floor = not_known;  ///< entropy of the data in nats per token, if known
  /// The origin of the predicted costs of ops: a cluster's figures, or a measurement. Empty: nothing is
  /// predicted.
  std::string costs;
  /// Share of the machine's cores that other programs, and other machines on the same host, used during the run.
  double others_share = not_known;
  /// From peers that did not prove to be workers of this run: ignored. -1: unknown.
  std::int64_t forged_messages = -1;
  /// That the disk did not take into the recording, and why.
  std::int64_t unrecorded_messages = 0;
  std::string unrecorded_reason;
};

/// Everything known about a run, or about a plan that has not run yet: input of make_report. The headline numbers are
/// analysed from `observed` steps of their kind and clock.
struct RunFacts : RunDescription {
  RankGrid grid;
  std::vector<RankProgram> programs;  ///< [rank]; empty if unknown
  double peak_flops = 0;              ///< of one device; 0: unknown
  double peak_spread = 0;             ///< spread of the products of which it is the best; 0: unknown
  double model_flops = not_known;     ///< of one step over all ranks, if no summary
                                      ///< has them
  double hardware_flops = not_known;  ///< with recomputation
  std::int64_t tokens_per_step = 0;   ///< if no summary has them; 0: unknown
  ClusterSpec cluster;                ///< for the predicted power
  std::string energy_unknown;         ///< the run's reason why energy is unknown

  /// The summaries of steps on one clock: their totals in `totals` (null: none), or one by one in `summaries`, any
  /// order.
  std::shared_ptr<const RunTotals> totals;
  std::vector<StepSummary> summaries;
  std::vector<ObservedStep> observed;  ///< any order; those not of the headline are ignored
  std::vector<ClockRecord> clocks;
  std::optional<End> end;  ///< the run's, if it has ended

  /// The textbook's bubble: the schedule's own (ideal_bubble of engine/plan/schedule).
  double ideal_bubble = not_known;
  /// The textbook's steps: unit costs and free communication (see unit_costs). The step analysed is the last.
  std::optional<Simulation> ideal;
  /// The model of this machine. The step analysed is the last.
  std::optional<Simulation> predicted;

  std::int64_t events = -1, dropped = -1;  ///< -1: taken from the summaries
  double telemetry_overhead = not_known;   ///< share of a step
};

/// The one rank that is slower than all others for equal work.
struct SlowRank {
  std::int32_t rank = 0;
  double factor = 1;  ///< times as long
};
/// "rank 2 takes 3.00 times as long as the others for equal work".
std::string to_text(const SlowRank& slow);

/// The textbook's, the machine model's and the run's value of one quantity.
struct Bubble {
  double ideal = not_known;
  double predicted = not_known;
  double measured = not_known;  ///< or emulated: see Report::obtained
};

/// The rank for which the others wait longest in their collectives, in the representative step.
struct AwaitedRank {
  std::int32_t rank = 0;
  double seconds = 0;  ///< a mean over the others (awaited_seconds)
  double share = 0;    ///< of the step
};
/// "the others wait 12.3 ms for rank 2 in collectives, 8.1 % of the step".
std::string to_text(const AwaitedRank& awaited);

/// The rank that ended a run: it died, or failed.
struct LostRank {
  std::int32_t rank = 0;
  std::int64_t last_step = -1;  ///< that it finished; -1: none
  std::string words;            ///< "rank 2 died after step 67 (signal 9 (Killed))"
};

struct StepRow {
  std::uint32_t step = 0;
  double loss = not_known;  ///< nats per token over the global batch
  double grad_norm = not_known;
  double seconds = not_known;
  double tokens_per_s = not_known;
  double loss_scale = 0;      ///< of fp16; 0: none
  bool skipped = false;       ///< its scaled gradients overflowed: no rank has made an update
  double joules = not_known;  ///< of all devices
  /// Over this step and enough earlier ones to last a tenth of a second on the wall clock: counters are updated
  /// only some tens of times a second, so that a short step would have the energy of several steps, or none.
  double watts = not_known;
  /// Elements of all gradients by magnitude (kernels/tensor/magnitude.hpp), multiplied by the loss scale, if there is
  /// one; null in a step that did not count them, or not on all ranks.
  std::shared_ptr<const std::vector<std::int64_t>> magnitudes{};
};

/// Bytes by memory class, each class's own peak, and the peak of the device's sum.
struct MemoryBytes {
  ClassBytes by_class{};
  std::int64_t peak = 0;
  /// Classes at the maximum of the device's sum, if known; `peak` is the sum of all but the host's.
  std::optional<ClassBytes> at_peak{};
};

struct MemoryRow {
  std::int32_t rank = 0;
  std::optional<MemoryBytes> measured, predicted;
  std::int32_t identical_ranks = 1;  ///< ranks that this row represents
};

/// The memory of the rank that needs most, on its device.
struct DeviceFit {
  double bytes = 0;    ///< of the device
  double context = 0;  ///< used by driver and libraries
  double slack = 0;    ///< share that the allocator loses
  double needed = 0;   ///< `reserved` with slack, and context
  double reserved = 0;  ///< the sum of each class's own peak: freed blocks stay reserved for their class
  std::int32_t rank = 0;
  bool fits() const { return needed <= bytes; }
};

/// What was lost with a node (cluster.lost_node); the report is about the remaining ranks.
struct LostReplicas {
  int node = 0, replicas = 0, replicas_before = 0;
  double tokens_per_s_before = not_known;
};

/// A whole training run at the predicted speed.
struct RunBudget {
  double tokens = 0, days = 0;
  /// Of all devices, and a device's average: in the bubble cluster.idle_watts, else power_watts. NaN if the cluster
  /// has no figures for power.
  double joules = not_known;
  double watts = not_known;
  /// With failures and checkpoints, if the cluster has a failure rate (else all NaN): the share of the
  /// time that is progress, days until the tokens are trained, failures until then, and seconds of training from one
  /// checkpoint to the next.
  double goodput = not_known;
  double days_with_failures = not_known;
  double failures = not_known;
  double checkpoint_interval = not_known;
};

/// Per step and participating rank. A message is counted once, at its sender.
struct TrafficReport {
  Purpose purpose = Purpose::none;
  OpKind collective = OpKind::send;   ///< send, copy, or one of the eight
  GroupKind group = GroupKind::self;  ///< of a collective; else self
  double count = 0;                   ///< ops of one rank in one step
  double payload_per_rank = not_known;  ///< what the rank contributes; NaN if no rank reported it
  double bytes_per_rank = not_known;  ///< sent, counted at the transport; NaN if it
                                      ///< is opaque
  double predicted = not_known;       ///< by plan.collective; "auto" is loopback's
};

/// From one rank to another, per step, for all purposes together.
struct LinkReport {
  int from = 0, to = 0;
  double bytes = not_known;  ///< counted at the sender; NaN if it has not counted all
  double predicted = 0;      ///< as TrafficReport's
};

/// Bytes per step of the rank that sends most, by the links; NaN if a link is unknown, or there are none (a folded
/// plan, or too many ranks).
double sent_by_busiest(std::span<const LinkReport> links, bool predicted);
/// The sum over purposes of the bytes that a participating rank sends in a step: one rank's if all ranks are equal.
double sent_by_purposes(std::span<const TrafficReport> traffic, bool predicted);

struct TelemetryReport {
  std::int64_t events = -1, dropped = -1;  ///< -1 unknown
  double overhead = not_known;
};

/// Energy used by the devices, over the steady steps (as Report::step_seconds) with known energy.
struct EnergyReport {
  PowerSource source = PowerSource::none;  ///< none: nothing is known
  int counters = 0;                        ///< GPUs, or hosts
  double joules_per_step = not_known;
  double watts = not_known;  ///< of all devices, on the wall clock
  double joules_per_token = not_known;
  /// Of one device per rank, which waits in the predicted bubble (ClusterSpec::average_watts); NaN if the cluster's
  /// power is unknown, or if the devices that were counted are not one per rank.
  double predicted_watts = not_known;
  std::string unknown;  ///< the reason, if nothing is known
};

struct Report : RunDescription {
  std::int32_t ranks = 0;
  /// Largest uncertainty of the fit between hosts' clocks, seconds; NaN without a fit.
  double clock_uncertainty_s = not_known;

  /// Median over the steady steps (all but the first, unless there is only one).
  double step_seconds = not_known;
  double predicted_step_seconds = not_known;
  double peak_spread = not_known;  ///< of the peak of MFU (Hello); NaN: not known
  std::vector<StepRow> steps;

  Bubble bubble, bubble_span;
  StepShares time;       ///< of the representative step; all NaN where no step was analysed
  int steady_steps = 0;  ///< number of analysed steps in the median
  /// The steady step whose bubble is the median (the lower of the two in the middle): `bubble`, `bubble_span` and
  /// `time` are all this one step's, so they agree with each other and with the diagram.
  std::optional<StepAnalysis> representative;
  std::optional<StepAnalysis> predicted;  ///< the prediction's last step

  double mfu = not_known;                ///< never counts recomputation
  double hfu = not_known;                ///< counts recomputation
  double tokens_per_s = not_known;       ///< of all ranks, at step_seconds
  double tflops_per_device = not_known;  ///< model FLOPs, as mfu

  std::optional<SlowRank> slow;  ///< of the representative step
  std::optional<AwaitedRank> awaited;  ///< of an imported run
  /// Impossible figures, one line each with the numbers they were computed from; they are NaN above.
  std::vector<std::string> faults;
  std::optional<std::uint32_t> loss_not_finite_since;  ///< the first such step
  std::optional<LostRank> lost_rank;
  std::string failure;  ///< how the run ended, if it failed; not if it was asked to stop

  std::vector<MemoryRow> memory;       ///< by rank
  std::vector<TrafficReport> traffic;  ///< by purpose, kind and group
  std::vector<LinkReport> links;       ///< by sender and receiver; none above most_linked_ranks
  EnergyReport energy;
  TelemetryReport telemetry;
  bool folded = false;               ///< simulated stage by stage, identical ranks as one; else from programs
  std::optional<DeviceFit> device;   ///< if the memory of the cluster's devices is known
  std::optional<RunBudget> budget;   ///< if one was requested
  std::optional<LostReplicas> lost;  ///< if a node is lost
};
/// What went wrong in the run, a line each: Report::failure, the loss, and Report::faults.
std::vector<std::string> all_faults(const Report& report);

Report make_report(const RunFacts& facts);

/// The object that --json prints, with all its keys.
nlohmann::json to_json(const Report& report);
/// The same as text for a terminal: aligned, with units.
std::string to_text(const Report& report);

}  // namespace rankscope
