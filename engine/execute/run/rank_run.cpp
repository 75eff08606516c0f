#include "engine/execute/run/rank_run.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/base/host/clock.hpp"
#include "engine/execute/optimizer/optimizer.hpp"
#include "engine/execute/run/bind_call.hpp"
#include "engine/execute/run/checkpoint_tensors.hpp"
#include "engine/op/not_known.hpp"
#include "engine/plan/program/communication.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

/// After this number of steps a GPU's driver and libraries have allocated all their memory.
constexpr int settling_steps = 2;
/// Called before queues and memory are created: they belong to the device of the calling thread.
std::shared_ptr<Device> in_use(std::shared_ptr<Device> device) {
  device->use();
  return device;
}

/// The wait for a library's pending reports, once at the end of a run. It is so long only if a report is lost, or if
/// the library's thread does not get a core.
constexpr std::chrono::milliseconds late_limit{2000};

}  // namespace

struct RankRun::StepRecord {
  StepTrace trace;
  std::size_t remaining = 0;
  StepValues values;
  double gathered_losses = 0;  ///< of a main device: the sum over all its replicas
  std::int64_t begin_ns = 0, end_ns = 0;
  std::vector<TrafficRow> traffic;
  std::map<int, std::int64_t> sent;  ///< by receiving rank
};

RankRun::RankRun(RankSettings settings, int rank)
    : settings_(std::move(settings)),
      program_(settings_.step.program_for(rank)),
      compute_(in_use(settings_.platform ? settings_.platform->device : std::make_shared<HostDevice>())),
      queues_(*compute_, program_),
      arena_(*compute_, program_.arena_bytes, program_.host_bytes),
      values_(compute_->reserve_host(steps_in_flight_of(program_) * static_cast<std::int64_t>(sizeof(StepValues)))) {
  const std::int64_t left_out = settings_.resume ? settings_.resume->skipped_updates() : 0;
  device_ = settings_.platform ? kernel_device(settings_.step, program_, arena_, *settings_.platform, queues_, left_out)
                               : sleep_device(settings_.sleep_cost_ns);
  if (settings_.world) {
    const std::int64_t before = context_bytes();
    communicators_ = std::make_unique<CommTable>(program_, settings_.step.grid, *settings_.world,
                                                 settings_.step.scenario.plan.collective);
    if (!settings_.shares_device) library_bytes_ = std::max<std::int64_t>(0, context_bytes() - before);
    communicators_->run_on(program_, *compute_, queues_);
  }
  for (OpIndex i = 0; i < program_.ops.size(); ++i) bound_.push_back(bind(i));
  if (communicators_) communicators_->reserve();
  for (const Op& op : program_.ops)
    contributed_bytes_.push_back(
        is_communication(op.id.kind())
            ? contribution_bytes(program_, op, group_size(settings_.step.grid, program_.rank, op))
            : program_.payload_bytes(op));
  device_->reserve();
  device_->initialise();
  if (settings_.resume) restore(*settings_.resume, settings_.step, program_, arena_, *compute_);
  if (settings_.stress.any()) stress_ = std::make_unique<Stress>(settings_.stress, program_, arena_, queues_);
  resident_ = resident_bytes();
  ledger_ = std::make_unique<Ledger>(program_, resident_);
  const auto lanes = program_.lanes();
  if (lanes[static_cast<std::size_t>(Lane::compute)].empty()) main_lane_ = Lane::server;
  first_op_ = lanes[static_cast<std::size_t>(main_lane_)].front();
  last_op_ = lanes[static_cast<std::size_t>(main_lane_)].back();
  for (const Op& op : program_.ops) {
    const OpKind kind = op.id.kind();
    gathers_losses_ = gathers_losses_ || (kind == OpKind::gather && op.id.fields().purpose == Purpose::replica_loss);
    has_norm_ = has_norm_ || (kind == OpKind::optimizer && op.id.fields().segment == Segment::norm);
    if (!is_model_compute(kind)) continue;
    const SegmentSpec& s = segment_of(settings_.step.model, op.id);
    if (kind == OpKind::forward) model_flops_ += s.forward_flops;
    if (kind == OpKind::recompute) repeated_flops_ += s.forward_flops;
    if (kind == OpKind::backward || kind == OpKind::input_gradient) model_flops_ += s.input_gradient_flops;
    if (kind == OpKind::backward || kind == OpKind::weight_gradient) model_flops_ += s.weight_gradient_flops;
  }
  dispatch_ = make_dispatch();
  executor_ = std::make_unique<Executor>(
      program_,
      [this](OpIndex op, std::uint32_t step) {
        if (op == first_op_) inject_kill(step);
        if (stress_) stress_->before(op, step);
        dispatch_->run(op, step);
      },
      [this](std::span<const OpIndex> receives) { return first_arrival(receives); });
}

RankRun::~RankRun() = default;

View RankRun::view(BufferIndex buffer) const {
  const Buffer& b = program_.buffers[buffer];
  return arena_.view(b.offset, b.type, b.shape);
}

HostTensor RankRun::read(BufferIndex buffer) const {
  const std::unique_ptr<Queue> queue = compute_->make_queue();
  return HostTensor::read(*compute_, *queue, view(buffer));
}

HostTensor RankRun::read(BufferIndex buffer, Lane lane) {
  return HostTensor::read(*compute_, queues_.of(lane), view(buffer));
}

void RankRun::change(BufferIndex buffer, const std::function<void(const View& values)>& by) const {
  const std::unique_ptr<Queue> queue = compute_->make_queue();
  const HostTensor here = HostTensor::read(*compute_, *queue, view(buffer));
  by(here.view());
  here.write_back(*queue);
}

StepValues& RankRun::values_of(std::uint32_t step) const {
  return reinterpret_cast<StepValues*>(values_.get())[step % steps_in_flight_of(program_)];
}

std::unique_ptr<Dispatch> RankRun::make_dispatch() {
  DispatchCalls calls;
  calls.launch = [this](OpIndex op, std::uint32_t step) { return launch(op, step); };
  calls.began = [this](const Span& span, OpIndex op) {
    ledger_->begin(op, span.step,
                   [&](OpIndex holds, const ClassBytes& alive) { report_memory(span, holds, span.begin_ns, alive); });
  };
  calls.ended = [this](const Span& span, OpIndex op) {
    ledger_->end(op, span.step,
                 [&](OpIndex holds, const ClassBytes& alive) { report_memory(span, holds, span.end_ns, alive); });
  };
  calls.done = [this](FinishedOp done) { record(std::move(done)); };
  if (stress_ || settings_.watch)
    calls.launched = [this](OpIndex op, std::uint32_t step) {
      if (settings_.watch) settings_.watch(op, step);
      if (stress_) stress_->after(op);
    };
  if (compute_->is_host()) return dispatch_on_host(program_, settings_.start_ns, std::move(calls));
  return dispatch_on_queues(program_, settings_.start_ns, *compute_, queues_, settings_.shares_device,
                            std::move(calls));
}

void RankRun::report_memory(const Span& span, OpIndex holds, std::int64_t time_ns, const ClassBytes& alive) const {
  if (settings_.observer)
    settings_.observer->memory(span.op.lane(), {span.rank, span.step, program_.ops[holds].id, time_ns, alive});
}

std::int64_t RankRun::reserved_bytes() const {
  return arena_.bytes() + device_->workspace_bytes() + device_->host_workspace_bytes();
}

void RankRun::run(std::uint32_t first, std::uint32_t count) {
  const auto fail = [this](const std::string& why) {
    dispatch_->abort();
    if (settings_.on_failure) settings_.on_failure(why);
    if (settings_.world) settings_.world->abort(fmt::format("rank {}: {}", program_.rank, why));
  };
  dispatch_->begin(first, settings_.observer != nullptr && settings_.observer->observes());
  if (settings_.energy) settings_.energy->take();  // energy used before the first step belongs to no step
  try {
    executor_->run(first, count, fail, settings_.limit);
  } catch (...) {
    dispatch_->end(true);
    throw;
  }
  try {
    dispatch_->end(false);
    const auto end = settings_.limit ? settings_.limit->end() : std::nullopt;
    if (end && *end > first && *end < first + count && write_checkpoint_ && !is_checkpoint_due(*end))
      write_checkpoint_(*end);
  } catch (const std::exception& e) {
    fail(e.what());
    throw;
  }
  report_last_phases();
}

void RankRun::inject_kill(std::uint32_t step) const {
  const FaultSpec& fault = settings_.step.scenario.fault;
  if (fault.kill_rank != program_.rank || fault.kill_step != static_cast<int>(step)) return;
  if (settings_.kill_by_signal) kill(getpid(), SIGKILL);
  throw RankKilled(fmt::format("rank {} was killed at the start of step {} (fault.kill_rank)", program_.rank, step));
}

OpOutcome RankRun::launch(OpIndex index, std::uint32_t step) {
  OpOutcome outcome = bound_[index](step);
  if (index == last_op_) device_->report_values(values_of(step), queues_.of(main_lane_));
  return outcome;
}

void RankRun::record(FinishedOp of) {
  const OpIndex index = of.op;
  const Span& span = of.span;
  const OpOutcome& outcome = of.outcome;
  if (settings_.observer) {
    for (const PhaseRecord& phase : outcome.phases) report_phase(span.op, span.step, phase);
    settings_.observer->span(span.op.lane(), span);
  }
  std::map<std::uint32_t, StepRecord>::node_type done;
  {
    const std::lock_guard lock(mutex_);
    auto [found, made] = steps_.try_emplace(span.step);
    StepRecord& step = found->second;
    if (made) {
      step.trace.cpu_ns.assign(program_.ops.size(), 0);
      step.remaining = program_.ops.size();
    }
    const OpFields f = span.op.fields();
    step.trace.cpu_ns[index] = is_untimed(f.kind, f.purpose) ? 0 : of.cost_ns;
    step.trace.executed[static_cast<std::size_t>(span.op.lane())].push_back(index);
    if (span.op.lane() == main_lane_ || is_on_host(span.op.lane())) step.end_ns = std::max(step.end_ns, span.end_ns);
    if (const auto& executed = step.trace.executed[static_cast<std::size_t>(main_lane_)];
        span.op.lane() == main_lane_ && executed.size() == 1)
      step.begin_ns = span.begin_ns;
    if (program_.arrivals_ahead && span.op.kind() == OpKind::receive) step.trace.arrivals.push_back(arrivals_++);
    if (index == last_op_) step.values = values_of(span.step);
    if (const auto gathered = gathered_losses_.find(index); gathered != gathered_losses_.end()) {
      const std::int64_t count = gathered->second.count;
      const auto* losses =
          reinterpret_cast<const double*>(gathered->second.memory.get()) + span.step % steps_in_flight * count;
      for (std::int64_t i = 0; i < count; ++i) step.gathered_losses += losses[i];
    }
    if (moves_bytes(f.kind)) {
      const GroupKind group = program_.ops[index].group;
      auto row = std::find_if(step.traffic.begin(), step.traffic.end(), [&](const TrafficRow& r) {
        return r.purpose == f.purpose && r.kind == f.kind && r.group == group;
      });
      if (row == step.traffic.end()) row = step.traffic.insert(row, {f.purpose, f.kind, 0, 0, 0, group});
      ++row->count;
      row->payload_bytes += contributed_bytes_[index];
      row->wire_bytes = outcome.wire_bytes < 0 || row->wire_bytes < 0 ? -1 : row->wire_bytes + outcome.wire_bytes;
    }
    for (const PeerBytes& to : outcome.sent) step.sent[to.peer] += to.bytes;
    if (--step.remaining == 0) done = steps_.extract(found);
  }
  if (!done.empty()) finish(done.key(), std::move(done.mapped()));
}

void RankRun::report_phase(OpId op, std::uint32_t step, const PhaseRecord& p) const {
  settings_.observer->phase(op.lane(), {program_.rank, step, op, p.phase, p.chunk, p.from, p.to, p.bytes,
                                        p.begin_ns - settings_.start_ns, p.end_ns - settings_.start_ns});
}

void RankRun::report_late_phases() {
  if (!settings_.observer || !communicators_) return;
  for (const LatePhase& late : communicators_->late_phases())
    report_phase(program_.ops[late.call % program_.ops.size()].id,
                 static_cast<std::uint32_t>(late.call / program_.ops.size()), late.phase);
}

void RankRun::report_last_phases() {
  const auto deadline = std::chrono::steady_clock::now() + late_limit;
  while (settings_.observer && communicators_ && communicators_->awaits_late_phases() &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  report_late_phases();
}

ResidentBytes RankRun::resident_bytes() const {
  return {device_->workspace_bytes() + (communicators_ ? communicators_->device_bytes() : 0) + library_bytes_,
          device_->host_workspace_bytes(), std::max<std::int64_t>(0, context_bytes() - library_bytes_)};
}

std::int64_t RankRun::context_bytes() const { return settings_.platform ? settings_.platform->context_bytes() : 0; }

void RankRun::finish(std::uint32_t step, StepRecord record) {
  // The first launch of a kernel loads its code, and the first call of a communicator makes its staging.
  if (!compute_->is_host() && settled_steps_ < settling_steps) {
    ++settled_steps_;
    resident_ = resident_bytes();
    ledger_->set_resident(resident_);
  }
  const Ledger::Peaks peaks = ledger_->take_peaks(step);
  if (!settings_.observer) return;
  if (!compute_->is_host()) report_late_phases();  // only one thread ends steps
  record.trace.resident = resident_;
  const Scenario& scenario = settings_.step.scenario;
  const Coordinates at = settings_.step.grid.coordinates_of(program_.rank);
  StepSummary summary;
  summary.rank = program_.rank;
  summary.step = step;
  summary.begin_ns = record.begin_ns;
  summary.end_ns = record.end_ns;
  summary.learning_rate = LearningRate(scenario.train).at(step);
  // Tensor ranks have the same samples, and the first one counts them; a main device counts those of its replicas.
  if (at.pipeline == settings_.step.schedule.stage_of_chunk.back() && at.tensor == 0 &&
      (!gathers_losses_ || at.data == 0)) {
    const int ranks = gathers_losses_ ? settings_.step.grid.data : 1;
    summary.tokens = std::int64_t{scenario.plan.micro_batches} * settings_.step.model.tokens() * ranks;
    const double sum = gathers_losses_ ? record.gathered_losses : record.values.loss_sum;
    if (settings_.platform) {
      summary.loss = sum / static_cast<double>(summary.tokens);
      summary.loss_not_finite = summary.tokens > 0 && !std::isfinite(summary.loss);
    }
  }
  // Data-parallel replicas hold the same gradients, and only the first one counts. With ZeRO, and on servers, each rank
  // holds different gradients. A rank that updates more than once per step never holds the gradient of a complete step.
  const bool counts_gradients = has_norm_ && (at.data == 0 || settings_.step.updates_pieces());
  const bool are_a_steps = settings_.platform && !program_.arrivals_ahead && !scenario.plan.updates_each_micro_batch();
  if (counts_gradients) summary.gradient_square_norm = record.values.square_norm;
  if (!are_a_steps || scenario.model.is_collective()) summary.gradient_square_norm = not_known;
  summary.loss_scale = record.values.loss_scale;
  if (summary.loss_scale > 0) summary.gradient_square_norm /= summary.loss_scale * summary.loss_scale;
  if (counts_gradients && are_a_steps && scenario.train.counts_magnitudes(step))
    for (const double count : record.values.magnitudes)
      summary.magnitudes.push_back(static_cast<std::uint32_t>(std::min<double>(count, UINT32_MAX)));
  summary.model_flops = model_flops_;
  summary.hardware_flops = model_flops_ + repeated_flops_;
  summary.peak_bytes = peaks.by_class;
  summary.peak_total_bytes = peaks.total;
  summary.traffic = std::move(record.traffic);
  if (has_room_for(record.sent.size(), summary.traffic.size()))
    for (const auto& [to, bytes] : record.sent) summary.sent.push_back({to, bytes});
  if (settings_.energy) summary.energy_joules = settings_.energy->take();
  if (summary.energy_joules) summary.energy_source = settings_.energy->source();
  settings_.observer->step_done(summary, record.trace);
}

}  // namespace rankscope
