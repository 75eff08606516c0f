// The launches of a rank's ops: each bound once to buffers, communicators, data and files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "engine/execute/run/bind_call.hpp"
#include "engine/execute/run/checkpoint_tensors.hpp"
#include "engine/execute/run/contents.hpp"
#include "engine/execute/run/rank_run.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {

RankRun::BoundOp RankRun::bind(OpIndex index) {
  const Op& op = program_.ops[index];
  if (is_communication(op.id.kind())) return bind_communication(op);
  if (op.id.fields().purpose == Purpose::alone) return bind_draw(op);
  if (op.id.kind() == OpKind::check) return bind_check(op);
  if (op.id.kind() == OpKind::load_batch) return bind_load(op);
  if (op.id.kind() == OpKind::checkpoint) return bind_checkpoint(op);
  return [compute = device_->bind(op), copied = program_.payload_bytes(op)](std::uint32_t step) {
    compute(step);
    return OpOutcome{-1, nullptr, copied, {}};
  };
}

RankRun::BoundOp RankRun::bind_communication(const Op& op) {
  if (!communicators_) return [](std::uint32_t) { return OpOutcome{}; };
  Communicator& communicator = communicators_->of(op);
  const auto index = static_cast<OpIndex>(&op - program_.ops.data());
  const auto call = bind_call(program_, op, settings_.step.grid, arena_, communicator);
  View losses;
  std::byte* host_losses = nullptr;
  if (op.id.kind() == OpKind::gather && op.id.fields().purpose == Purpose::replica_loss && op.root == program_.rank) {
    losses = view(op.uses.back().buffer);
    const GatheredLosses gathered{compute_->reserve_host(steps_in_flight * losses.bytes()), losses.elements()};
    host_losses = gathered.memory.get();
    gathered_losses_.emplace(index, gathered);
  }
  // An asynchronous server serves the workers that have arrived, not announced ones.
  const bool sends_when_done = settings_.step.arrivals_ahead() && !program_.arrivals_ahead &&
                               op.id.kind() == OpKind::send && op.id.fields().purpose == Purpose::server;
  return [this, &communicator, &op, index, call, losses, host_losses, sends_when_done](std::uint32_t step) {
    if (sends_when_done)
      if (const Mark there = queues_.of(op.lane()).mark()) there->wait();
    const WireBytes before = communicator.wire_bytes();
    OpOutcome outcome;
    if (settings_.observer) communicator.name_calls(step * program_.ops.size() + index);
    try {
      const CommResult result = call();
      outcome.active_ns = result.active_ns;
      outcome.active = result.active;
    } catch (const CommError& e) {
      throw CommError(fmt::format("{} (at {} of step {})", e.what(), to_token(op.id), step));
    }
    if (host_losses != nullptr)
      queues_.of(op.lane()).copy(host_losses + step % steps_in_flight * losses.bytes(), losses.data, losses.bytes());
    const WireBytes after = communicator.wire_bytes();
    outcome.wire_bytes = after.sent < 0 ? -1 : after.sent - before.sent;
    if (settings_.observer) {
      const auto phases = communicator.last_phases();
      outcome.phases.assign(phases.begin(), phases.end());
      if (op.id.kind() != OpKind::receive) {
        const auto sent = communicator.last_sent();
        outcome.sent.assign(sent.begin(), sent.end());
      }
    }
    return outcome;
  };
}

OpIndex RankRun::first_arrival(std::span<const OpIndex> receives) const {
  if (!communicators_) return receives.front();
  Communicator& communicator = communicators_->of(program_.ops[receives.front()]);  // all have the same communicator
  std::vector<int> senders;
  for (const OpIndex op : receives) senders.push_back(index_of(communicator, program_.ops[op].peer));
  const int first = communicator.first_sender(senders);
  return receives[std::find(senders.begin(), senders.end(), first) - senders.begin()];
}

RankRun::BoundOp RankRun::bind_load(const Op& op) {
  if (!settings_.dataset) return [](std::uint32_t) { return OpOutcome{}; };
  // The first chunk needs tokens (or images), the last one targets.
  const OpFields f = op.id.fields();
  const Model& model = settings_.step.model;
  const int samples = model.micro_batch_size;
  View tokens, targets;
  std::size_t use = 0;
  if (f.chunk == 0) tokens = view(op.uses[use++].buffer);
  if (f.chunk == settings_.step.schedule.shape.chunks() - 1) targets = view(op.uses[use++].buffer);
  // A main device loads the samples of all ranks of its data group.
  const std::int64_t tokens_of_one = model.segments.front().inputs.front().shape.elements();
  const std::int64_t targets_of_one = model.tokens();
  const auto ranks = static_cast<int>(tokens.data != nullptr ? tokens.elements() / tokens_of_one
                                                             : targets.elements() / targets_of_one);
  // Samples are drawn into this buffer and copied from it. A buffer that a running step still copies must not change.
  const std::int64_t values = ranks * (tokens_of_one + targets_of_one);
  const Memory drawn = compute_->reserve_host(steps_in_flight * values * bytes_of(DType::i32));
  const int data = settings_.step.grid.coordinates_of(program_.rank).data;
  const std::int64_t batch = settings_.step.scenario.train.global_batch;
  const std::int64_t micro_batches = settings_.step.scenario.plan.micro_batches;
  return [this, drawn, values, tokens, targets, ranks, data, batch, micro_batches, samples, tokens_of_one,
          targets_of_one, micro_batch = f.micro_batch, &queue = queues_.of(op.lane())](std::uint32_t step) {
    auto* drawn_tokens = reinterpret_cast<std::int32_t*>(drawn.get()) + step % steps_in_flight * values;
    auto* drawn_targets = drawn_tokens + ranks * tokens_of_one;
    for (int r = 0; r < ranks; ++r)
      settings_.dataset->fill(step * batch + ((data + r) * micro_batches + micro_batch) * samples, samples,
                              drawn_tokens + r * tokens_of_one, drawn_targets + r * targets_of_one);
    queue.copy(tokens.data, drawn_tokens, tokens.data != nullptr ? tokens.bytes() : 0);
    queue.copy(targets.data, drawn_targets, targets.data != nullptr ? targets.bytes() : 0);
    return OpOutcome{};
  };
}

RankRun::BoundOp RankRun::bind_draw(const Op& op) {
  const bool is_lost =
      settings_.step.scenario.fault.plant == Plant::lost_part && program_.rank == losing_rank(task_of(settings_.step));
  if (!settings_.platform || op.uses.empty() || is_lost) return [](std::uint32_t) { return OpOutcome{}; };
  const View brought = view(op.uses.front().buffer);
  return [this, brought, task = task_of(settings_.step), &queue = queues_.of(op.lane())](std::uint32_t step) {
    const HostTensor numbers = HostTensor::to_write(*compute_, brought);
    draw_into(numbers.view(), task, program_.rank, step);
    numbers.write_back(queue);
    return OpOutcome{};
  };
}

RankRun::BoundOp RankRun::bind_check(const Op& op) {
  if (!settings_.platform || op.uses.empty()) return [](std::uint32_t) { return OpOutcome{}; };
  const View left = view(op.uses.front().buffer);
  return [this, left, task = task_of(settings_.step), &queue = queues_.of(op.lane())](std::uint32_t step) {
    const HostTensor here = HostTensor::read(*compute_, queue, left);
    const auto wrong = find_wrong(here.view(), task, program_.rank, step);
    // A rank that is measured alone has no peers.
    if (wrong && communicators_) throw WrongContents(words_of(*wrong, task, program_.rank, step));
    return OpOutcome{};
  };
}

RankRun::BoundOp RankRun::bind_checkpoint(const Op& op) {
  if (settings_.checkpoint_folder.empty()) return [](std::uint32_t) { return OpOutcome{}; };
  auto tensors = checkpoint_tensors(settings_.step, program_, op, arena_);
  // A loss scale that this run does not use is kept for later runs.
  const auto scale = settings_.resume && program_.rank == 0 && settings_.step.model.type != DType::f16
                         ? settings_.resume->loss_scale()
                         : std::nullopt;
  std::shared_ptr<std::array<double, 3>> carried;
  if (scale) {
    carried = std::make_shared<std::array<double, 3>>(*scale);
    CheckpointTensor& tensor = tensors.emplace_back();
    tensor.role = loss_scale_role;
    tensor.view = {carried->data(), DType::f64, Shape{3}};
  }
  write_checkpoint_ = [this, carried, tensors = std::move(tensors),
                       &queue = queues_.of(op.lane())](std::uint32_t done) {
    if (carried) (*carried)[2] = static_cast<double>(done - settings_.resume->skipped_updates());
    std::vector<HostTensor> held;  // only this lane waits for the tensors that it reads
    std::vector<CheckpointTensor> here = tensors;
    for (CheckpointTensor& tensor : here)
      if (!carried || tensor.view.data != carried->data())
        tensor.view = held.emplace_back(HostTensor::read(*compute_, queue, tensor.view)).view();
    write_checkpoint(settings_.checkpoint_folder, settings_.step.scenario, settings_.step.model, program_.rank, done,
                     here);
  };
  return [this](std::uint32_t step) {
    if (is_checkpoint_due(step + 1)) write_checkpoint_(step + 1);
    return OpOutcome{};
  };
}

bool RankRun::is_checkpoint_due(std::uint32_t steps_done) const {
  const TrainSpec& train = settings_.step.scenario.train;
  return steps_done % static_cast<std::uint32_t>(train.checkpoint_every) == 0 ||
         steps_done == static_cast<std::uint32_t>(train.steps);
}

}  // namespace rankscope
