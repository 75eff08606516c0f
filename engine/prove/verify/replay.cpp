#include "engine/prove/verify/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "engine/base/host/clock.hpp"
#include "engine/execute/layers/initialise.hpp"
#include "engine/execute/optimizer/optimizer.hpp"
#include "kernels/device/host_tensor.hpp"
#include "kernels/tensor/element.hpp"

namespace rankscope {
namespace {

/// The same plan as data parallelism without servers: its ranks do the same computation as the workers of a step.
StepProgram without_servers(const Scenario& scenario) {
  Scenario plain = scenario;
  plain.plan.data_parallel = DataParallel::all_reduce;
  plain.plan.servers = 1;
  plain.plan.staleness = 0;
  plain.fault = {};
  return compile(plain);
}

class LossOfStep : public RankObserver {
 public:
  void step_done(const StepSummary& summary, const StepTrace&) override { loss = summary.loss; }
  double loss = 0;
};

/// One worker: a rank without peers.
class Worker {
 public:
  Worker(const StepProgram& step, int rank, const Dataset& dataset, std::shared_ptr<const Platform> platform)
      : device_(*platform->device), queue_(device_.make_queue()) {
    RankSettings settings(step);
    settings.dataset = &dataset;
    settings.platform = std::move(platform);
    settings.observer = &observer_;
    settings.start_ns = monotonic_ns();
    run_ = std::make_unique<RankRun>(std::move(settings), rank);
    const RankProgram& program = run_->program();
    for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      if (buffer.parameter < 0 || !buffer.persistent) continue;
      if (buffer.role == BufferRole::parameter) parameters_[buffer.parameter] = b;
      if (buffer.role == BufferRole::gradient) gradients_[buffer.parameter] = b;
    }
  }

  /// Its gradients, from its current parameters. (Its own optimizer then changes those, which has no effect: pull()
  /// overwrites all of them.)
  WholeValues compute(std::uint32_t step) {
    run_->run(step, 1);
    return values(gradients_);
  }
  double loss() const { return observer_.loss; }
  /// Sets its elements of that parameter from `first` on.
  void pull(int parameter, std::int64_t first, const View& part) {
    const View whole = run_->view(parameters_.at(parameter));
    const HostTensor here =
        HostTensor::to_write(device_, {whole.as<std::byte>() + first * bytes_of(whole.type), whole.type, part.shape});
    std::memcpy(here.view().data, part.data, part.bytes());
    here.write_back(*queue_);
  }
  WholeValues parameters() const { return values(parameters_); }

 private:
  WholeValues values(const std::map<int, BufferIndex>& buffers) const {
    WholeValues values;
    for (const auto& [parameter, buffer] : buffers) values[parameter] = parity::values_of(run_->read(buffer).view());
    return values;
  }

  Device& device_;
  std::unique_ptr<Queue> queue_;
  LossOfStep observer_;
  std::unique_ptr<RankRun> run_;
  std::map<int, BufferIndex> parameters_, gradients_;
};

/// A server's part of the parameters, their states and their update, in the host's memory.
class Shard {
 public:
  Shard(const StepProgram& step, int server_rank, const kernels::KernelSet& kernels) : step_(step) {
    const RankProgram program = step.program_for(server_rank);
    for (const Buffer& buffer : program.buffers)
      if (buffer.role == BufferRole::parameter && buffer.parameter >= 0) add_piece(buffer);
    std::vector<UpdateOperands> operands;
    for (const Piece& piece : pieces_) operands.push_back(piece.operands);
    update_ = bind_update(step.scenario.train, operands, nullptr, kernels, workspace_);
    workspace_.reserve();
  }

  void apply(const WholeValues& gradients, std::uint32_t step) {
    for (const Piece& piece : pieces_) {
      const parity::Values& whole = gradients.at(piece.parameter);
      for (std::int64_t i = 0; i < piece.operands.gradient.elements(); ++i)
        set_element(piece.operands.gradient, i, whole[piece.first + i]);
    }
    LaunchContext context;
    context.step = step;
    context.seed = step_.scenario.train.seed;
    context.update = updates_++;
    context.global_tokens = std::int64_t{step_.scenario.train.global_batch} * step_.model.spec.tokens_per_sample();
    update_(context);
  }

  /// Changes its weights before the first step, and their masters by the same amount.
  void change_roundings(int twin) {
    for (const Piece& piece : pieces_) {
      const auto change = [&](const View& values) {
        for (std::int64_t i = 0; i < values.elements(); ++i)
          set_element(values, i,
                      parity::with_other_rounding(element(values, i), step_.model.type,
                                                  parity::draw_of(twin, piece.parameter, piece.first + i)));
      };
      change(piece.operands.parameter);
      if (accumulation_type(step_.model.type) != step_.model.type) change(piece.operands.states.front());
    }
  }

  void answer(Worker& worker) const {
    for (const Piece& piece : pieces_) worker.pull(piece.parameter, piece.first, piece.operands.parameter);
  }

  /// Writes its part: of the masters, if any, and of the parameters.
  void copy_to(WholeValues& parameters, WholeValues& rounded) const {
    for (const Piece& piece : pieces_) {
      const bool has_master = accumulation_type(step_.model.type) != step_.model.type;
      if (has_master) write(piece, piece.operands.parameter, rounded);
      write(piece, has_master ? piece.operands.states.front() : piece.operands.parameter, parameters);
    }
  }

 private:
  struct Piece {
    int parameter = 0;
    std::int64_t first = 0;  ///< of the complete parameter's elements
    UpdateOperands operands;
  };

  View make(DType type, const Shape& shape) {
    memory_.emplace_back(static_cast<std::size_t>(shape.elements() * bytes_of(type)) + 1);
    return {memory_.back().data(), type, shape};
  }

  void add_piece(const Buffer& buffer) {
    const ParameterSpec& spec = step_.model.parameters[buffer.parameter];
    const TrainSpec& train = step_.scenario.train;
    const DType wide = accumulation_type(buffer.type);
    Piece piece{buffer.parameter, buffer.first, {}};
    UpdateOperands& o = piece.operands;
    o.parameter = make(buffer.type, buffer.shape);
    o.gradient = make(wide, buffer.shape);
    o.decay = spec.decay;
    o.tensor_elements = spec.whole.elements();
    initialise(o.parameter, spec, train.seed, buffer.first);
    const UpdateTarget target{buffer.type, wide, buffer.shape, o.tensor_elements};
    for (const StateSpec& state : states_of(optimizer_rule(train.optimizer), target))
      o.states.push_back(make(state.type, state.shape));
    if (target.master()) initialise(o.states.front(), spec, train.seed, buffer.first);
    pieces_.push_back(std::move(piece));
  }

  void write(const Piece& piece, const View& part, WholeValues& into) const {
    parity::Values& whole = into[piece.parameter];
    whole.resize(step_.model.parameters[piece.parameter].whole.elements());
    const parity::Values values = parity::values_of(part);
    std::copy(values.begin(), values.end(), whole.begin() + piece.first);
  }

  const StepProgram& step_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<Piece> pieces_;
  Workspace workspace_;
  Launch update_;
  std::uint64_t updates_ = 0;
};

}  // namespace

Replay replay(const StepProgram& step, const std::vector<std::vector<Contribution>>& served,
              const RunSettings& settings, int twin) {
  const StepProgram plain = without_servers(step.scenario);
  // Workers use the kernels of the run: 16-bit results of other kernels would differ.
  const std::shared_ptr<const Platform> platform =
      settings.platform      ? settings.platform
      : settings.platform_of ? settings.platform_of(0)
                             : open_platform(settings.device, settings.threads_per_rank, 0, settings.gpu_options);
  platform->device->use();
  const std::unique_ptr<Dataset> dataset = open_dataset(step.scenario);
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::unique_ptr<Shard>> shards;
  for (int w = 0; w < step.grid.workers(); ++w)
    workers.push_back(std::make_unique<Worker>(plain, w, *dataset, platform));
  for (std::size_t s = 0; s < served.size(); ++s)
    shards.push_back(std::make_unique<Shard>(step, step.grid.workers() + static_cast<int>(s), platform->host_kernels));

  if (twin > 0)
    for (const auto& shard : shards) {
      shard->change_roundings(twin);
      for (const auto& worker : workers) shard->answer(*worker);
    }
  Replay result;
  for (const auto& shard : shards) shard->copy_to(result.before, result.rounded_before);
  std::vector<std::size_t> next(served.size());
  std::vector<std::size_t> answers(workers.size(), served.size());  // of servers to the worker's last contribution
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < served.size(); ++s) {
      if (next[s] == served[s].size()) continue;
      const Contribution& contribution = served[s][next[s]];
      const auto w = static_cast<std::size_t>(contribution.worker);
      if (!result.gradients.contains(contribution)) {
        if (answers[w] < served.size()) continue;  // it has not yet received all of its parameters
        result.gradients[contribution] = workers[w]->compute(contribution.step);
        result.losses[contribution] = workers[w]->loss();
        answers[w] = 0;
      }
      shards[s]->apply(result.gradients.at(contribution), contribution.step);
      shards[s]->answer(*workers[w]);
      ++answers[w];
      ++next[s];
      moved = true;
    }
  }
  for (std::size_t s = 0; s < served.size(); ++s)
    if (next[s] < served[s].size())
      throw std::invalid_argument(
          fmt::format("server {} has served worker {}'s step {} before that worker had its parameters from all servers",
                      s, served[s][next[s]].worker, served[s][next[s]].step));
  for (const auto& shard : shards) shard->copy_to(result.after, result.rounded_after);
  for (const auto& worker : workers) result.pulled.push_back(worker->parameters());
  return result;
}

}  // namespace rankscope
