#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "engine/execute/data/sampler.hpp"
#include "engine/execute/layers/initialise.hpp"
#include "engine/execute/optimizer/loss_scale.hpp"
#include "engine/execute/optimizer/optimizer.hpp"
#include "engine/execute/run/device.hpp"
#include "engine/plan/program/passes.hpp"
#include "kernels/device/host_tensor.hpp"
#include "kernels/update.hpp"

namespace rankscope {
namespace {

constexpr std::uint32_t overflow_step = 1;  ///< of the planted one

class KernelDevice : public ComputeDevice {
 public:
  KernelDevice(const StepProgram& step, const RankProgram& program, const Arena& arena, const Platform& platform,
               LaneQueues& queues, std::int64_t skipped_updates)
      : step_(step),
        program_(program),
        arena_(arena),
        device_(*platform.device),
        kernels_(platform.kernels),
        host_kernels_(platform.host_kernels),
        queues_(queues),
        main_lane_(main_lane_of(program)),
        skipped_updates_(skipped_updates),
        scalars_(device_.reserve(sizeof(Scalars))),
        host_copies_(device_.reserve_host(sizeof(HostCopies))) {
    for (const Buffer& buffer : program.buffers)
      if (buffer.role == BufferRole::loss_scale) loss_scale_state_ = view_of(buffer).as<double>();
    if (loss_scale_state_ != nullptr)
      loss_scale_ = LossScale(device_.is_host() ? loss_scale_state_ : host_copies().loss_scale);
    if (loss_scale_ && !device_.is_host() && step.scenario.plan.data_parallel != DataParallel::all_reduce)
      throw kernels::Unsupported("plan.precision = \"fp16\" with plan.data_parallel = \"" +
                                 step.scenario.plan.data_parallel.name() + "\" does not run on the device '" +
                                 std::string(device_.name()) +
                                 "' yet: its loss scale comes from another rank; use bf16");
  }

  BoundCompute bind(const Op& op) override {
    switch (op.id.kind()) {
      case OpKind::forward:
      case OpKind::recompute: return bind_forward_op(op);
      case OpKind::backward: return bind_backward_op(op, bind_backward);
      case OpKind::input_gradient: return bind_backward_op(op, bind_input_gradient);
      case OpKind::weight_gradient: return bind_backward_op(op, bind_weight_gradient);
      case OpKind::optimizer: {
        const Segment segment = op.id.fields().segment;
        if (segment == Segment::accumulate) return bind_accumulate_op(op);
        if (segment == Segment::loss_scale) return bind_loss_scale_op(op);
        if (segment == Segment::stash) return bind_copy_op(op);
        return segment == Segment::norm ? bind_norm_op(op) : bind_update_op(op);
      }
      case OpKind::copy: return bind_copy_op(op);
      case OpKind::send:
      case OpKind::receive:
      case OpKind::broadcast:
      case OpKind::scatter:
      case OpKind::reduce:
      case OpKind::all_reduce:
      case OpKind::gather:
      case OpKind::all_gather:
      case OpKind::reduce_scatter:
      case OpKind::all_to_all:
      case OpKind::load_batch:
      case OpKind::checkpoint:
      case OpKind::check:
      case OpKind::compute: break;
    }
    throw kernels::Unsupported("the kernel set '" + kernels_.name + "' cannot run " + to_token(op.id));
  }

  void reserve() override {
    workspace_.reserve(device_, queues_.of(main_lane_));
    host_workspace_.reserve();
  }
  std::int64_t workspace_bytes() const override { return workspace_.bytes(); }
  std::int64_t host_workspace_bytes() const override { return host_workspace_.bytes(); }

  void initialise() override {
    Queue& queue = queues_.of(main_lane_);
    HostQueue here;
    queue.fill(scalars_.get(), 0, sizeof(StepValues));
    for (const Buffer& buffer : program_.buffers)
      if (buffer.persistent && buffer.within < 0)
        (buffer.host ? static_cast<Queue&>(here) : queue).fill(view_of(buffer).data, 0, buffer.bytes());
    if (loss_scale_) {
      loss_scale_->reset(step_.scenario.train.loss_scale);
      upload_loss_scale(queue);
    }
    const int tensor = step_.grid.coordinates_of(program_.rank).tensor;
    for (const Buffer& buffer : program_.buffers)
      if (holds_weights(buffer)) put_initial(buffer, queue, tensor);
    if (const Mark written = queue.mark()) written->wait();
  }

  void report_values(StepValues& values, Queue& queue) override {
    queue.copy(&values, scalars_.get(), sizeof values);
    queue.fill(scalars_.get(), 0, sizeof values);
  }

 private:
  /// The lane of device compute: a server has no compute lane.
  static Lane main_lane_of(const RankProgram& program) {
    for (const Op& op : program.ops)
      if (op.lane() == Lane::compute) return Lane::compute;
    return Lane::server;
  }
  /// Values that launches compute and others read, in device memory.
  struct Scalars {
    StepValues totals;       ///< of the running step
    double coefficient = 1;  ///< the clipping factor of its gradients
  };
  Scalars& scalars() const { return *reinterpret_cast<Scalars*>(scalars_.get()); }
  /// The host's copies of values in device memory that it reads or changes.
  struct HostCopies {
    double square_norm = 0, coefficient = 1;
    double loss_scale[3] = {};
  };
  HostCopies& host_copies() const { return *reinterpret_cast<HostCopies*>(host_copies_.get()); }
  static constexpr std::int64_t loss_scale_bytes = sizeof(HostCopies::loss_scale);

  /// The step's total square norm, on the host. The first call in a step waits for the ops before it on the compute
  /// lane.
  double read_square_norm(const double* total, std::uint32_t step) {
    if (device_.is_host()) return *total;
    if (norm_read_of_ != step) {
      Queue& queue = workspace_.queue();
      queue.copy(&host_copies().square_norm, total, sizeof *total);
      if (const Mark copied = queue.mark()) copied->wait();
      norm_read_of_ = step;
    }
    return host_copies().square_norm;
  }
  /// Copies the host's loss scale to the buffer that checkpoints and updates on the host read.
  void upload_loss_scale(Queue& queue) const {
    if (!device_.is_host()) queue.copy(loss_scale_state_, host_copies().loss_scale, loss_scale_bytes);
  }
  /// The compute lane's. A checkpoint may have replaced the one of initialise(), so the first call reads it from the
  /// device.
  const std::optional<LossScale>& loss_scale() {
    if (loss_scale_ && !is_loss_scale_known_ && !device_.is_host()) {
      Queue& queue = workspace_.queue();
      queue.copy(host_copies().loss_scale, loss_scale_state_, loss_scale_bytes);
      if (const Mark copied = queue.mark()) copied->wait();
    }
    is_loss_scale_known_ = true;
    return loss_scale_;
  }
  StepValues& totals() const { return scalars().totals; }
  void put_initial(const Buffer& buffer, Queue& queue, int tensor) {
    const HostTensor values = HostTensor::to_write(device_, view_of(buffer));
    rankscope::initialise(values.view(), step_.model.parameters[buffer.parameter], step_.scenario.train.seed,
                          buffer.first, tensor);
    values.write_back(queue);
  }

  View view_of(const Buffer& buffer) const { return arena_.view(buffer.offset, buffer.type, buffer.shape); }
  std::vector<View> views_of(const Op& op) const {
    std::vector<View> views;
    for (const BufferUse& use : op.uses) views.push_back(view_of(program_.buffers[use.buffer]));
    return views;
  }

  /// The arguments of the op's launch in a step, including injected faults.
  LaunchContext context_of(const Op& op, std::uint32_t step) { return context_of(op, step, loss_scale()); }
  /// The same under that loss scale: the compute lane's own, or the host's copy.
  LaunchContext context_of(const Op& op, std::uint32_t step, const std::optional<LossScale>& scale) const {
    const TrainSpec& train = step_.scenario.train;
    const PlanSpec& plan = step_.scenario.plan;
    const int data = step_.grid.coordinates_of(program_.rank).data;
    const int micro_batch = std::max(op.id.fields().micro_batch, 0);
    LaunchContext context;
    context.step = step;
    context.seed = train.seed;
    context.first_sample = batch_shape(step_.scenario).first_sample(step, data, micro_batch);
    // Only the compute lane reads and changes it, so its order is enough.
    context.loss_scale = scale ? scale->scale() : 1.0;
    if (plan.updates_each_micro_batch())
      context.mini_batch = std::uint64_t{step} * static_cast<std::uint64_t>(plan.micro_batches) +
                           static_cast<std::uint64_t>(micro_batch);
    context.update =
        scale ? scale->updates() : context.mini_batch.value_or(step) - static_cast<std::uint64_t>(skipped_updates_);
    context.global_tokens =
        std::int64_t{train.global_batch} * step_.model.spec.tokens_per_sample() / plan.updates_a_step();
    context.tensor = step_.grid.coordinates_of(program_.rank).tensor;
    const Plant plant = step_.scenario.fault.plant;
    if (plant == Plant::gradient_scale && data == 0) context.global_tokens /= 2;
    if (plant == Plant::dropped_micro_batch && data == 0 && micro_batch == plan.micro_batches - 1)
      context.global_tokens = std::numeric_limits<std::int64_t>::max();  // its gradient vanishes
    if (plant == Plant::overflow && step == overflow_step && program_.rank == step_.grid.size() - 1)
      context.loss_scale = std::numeric_limits<double>::infinity();
    return context;
  }

  BoundCompute bind_forward_op(const Op& op) {
    const SegmentSpec& segment = segment_of(step_.model, op.id);
    const std::vector<View> views = views_of(op);
    Launch launch = bind_forward(step_.model, segment, views, kernels_, workspace_);
    if (segment.outputs.back().name != TensorName::loss)  // if there is one, it is the last output
      return [this, &op, launch = std::move(launch)](std::uint32_t step) { launch(context_of(op, step)); };
    const View micro_batch = views.back(), sum{&totals().loss_sum, DType::f64, {1}};
    const auto add = kernels_.prepare(&kernels::KernelSet::add, kernels::ElementwiseSpec{DType::f64, 1, 1});
    workspace_.require(add.workspace_bytes);
    return [this, &op, launch = std::move(launch), add, micro_batch, sum](std::uint32_t step) {
      launch(context_of(op, step));
      add.launch(sum, sum, micro_batch, workspace_.stream());
    };
  }

  /// A backward or one of its halves; the gradients of parameters are the last operands of all three.
  BoundCompute bind_backward_op(const Op& op, decltype(bind_backward)* bind_it) {
    const SegmentSpec& segment = segment_of(step_.model, op.id);
    const std::size_t gradients = op.id.kind() == OpKind::backward         ? segment.parameters.size()
                                  : op.id.kind() == OpKind::input_gradient ? segment.input_parameters.size()
                                                                           : segment.weight_parameters.size();
    std::vector<IntoGradient> into;
    for (std::size_t i = op.uses.size() - gradients; i < op.uses.size(); ++i)
      into.push_back(op.uses[i].access == Access::write ? IntoGradient::write : IntoGradient::add);
    Launch launch = bind_it(step_.model, segment, views_of(op), into, kernels_, workspace_);
    return [this, &op, launch = std::move(launch)](std::uint32_t step) { launch(context_of(op, step)); };
  }

  // Operands: this rank's square norm, the total (this rank's until the all-reduce), then the gradients. With a loss
  // scale both are of scaled gradients, and so is the reported norm, with the scale. Magnitudes are counted as well.
  BoundCompute bind_norm_op(const Op& op) {
    const std::vector<View> views = views_of(op);
    const std::span gradients = std::span(views).subspan(2);
    Launch launch = bind_square_norm(gradients, views[0].as<double>(), kernels_, workspace_);
    std::function<void(double*)> count;
    if (step_.scenario.train.magnitudes_every > 0) count = bind_count_magnitudes(gradients, kernels_, workspace_);
    return [this, &op, launch = std::move(launch), count = std::move(count), own = views[0].as<double>(),
            total = views[1].as<double>()](std::uint32_t step) {
      launch(context_of(op, step));
      if (step_.scenario.train.counts_magnitudes(step)) count(totals().magnitudes.data());
      Queue& queue = workspace_.queue();
      queue.copy(total, own, sizeof *own);
      queue.copy(&totals().square_norm, own, sizeof *own);
      if (loss_scale_)  // changed only after this has run: adjust() has waited for the ops before it
        queue.copy(&totals().loss_scale, device_.is_host() ? loss_scale_state_ : host_copies().loss_scale,
                   sizeof(double));
    };
  }

  // Operands: the total square norm of the step, the loss scale's state.
  BoundCompute bind_loss_scale_op(const Op& op) {
    return [this, total = views_of(op)[0].as<double>()](std::uint32_t step) {
      loss_scale_->adjust(std::isfinite(read_square_norm(total, step)), step_.scenario.train.loss_scale_window);
      upload_loss_scale(workspace_.queue());
    };
  }

  // Operands: the shard, which the step's first micro-batch writes and the others add to, and the received part.
  BoundCompute bind_accumulate_op(const Op& op) {
    const std::vector<View> views = views_of(op);
    const auto add =
        kernels_.prepare(&kernels::KernelSet::add, kernels::ElementwiseSpec{views[0].type, 1, views[0].elements()});
    workspace_.require(add.workspace_bytes);
    if (op.uses[0].access == Access::write)
      return [this, shard = views[0], part = views[1]](std::uint32_t) {
        workspace_.queue().copy(shard.data, part.data, part.bytes());
      };
    return [this, add, shard = views[0], part = views[1]](std::uint32_t) {
      add.launch(shard, shard, part, workspace_.stream());
    };
  }

  // Operands: the sources, then the destination of each.
  BoundCompute bind_copy_op(const Op& op) {
    const std::vector<View> views = views_of(op);
    const std::size_t half = views.size() / 2;
    assert(views.size() == 2 * half);
    return [views, half, &queue = queues_.of(op.lane())](std::uint32_t) {
      for (std::size_t i = 0; i < half; ++i) queue.copy(views[half + i].data, views[i].data, views[i].bytes());
    };
  }

  // Operands: the total square norm (except for an asynchronous server's own or a micro-batch's own), then for each
  // parameter its gradient, itself and its states; last the loss scale's state, if any. An update on the host has its
  // own copies of all of them.
  BoundCompute bind_update_op(const Op& op) {
    const std::vector<View> views = views_of(op);
    std::vector<UpdateOperands> operands;
    const bool on_arrival = op.id.fields().purpose == Purpose::server;
    const bool has_norm = program_.buffers[op.uses.front().buffer].role == BufferRole::scalar;
    for (std::size_t i = has_norm ? 1 : 0; i < views.size() - (loss_scale_ ? 1 : 0);) {
      UpdateOperands& o = operands.emplace_back();
      const int parameter = program_.buffers[op.uses[i].buffer].parameter;
      o.gradient = views[i++];
      o.parameter = views[i++];
      while (i < views.size() && is_state(program_.buffers[op.uses[i].buffer]) &&
             program_.buffers[op.uses[i].buffer].parameter == parameter)
        o.states.push_back(views[i++]);
      const ParameterSpec& spec = step_.model.parameters[parameter];
      o.tensor_elements = spec.whole.elements();
      o.decay = spec.decay;
    }
    const bool on_host = is_on_host(op.lane());
    Workspace& workspace = on_host ? host_workspace_ : workspace_;
    const kernels::KernelSet& set = on_host ? host_kernels_ : kernels_;
    if (on_arrival) {
      Launch launch = bind_update(step_.scenario.train, operands, nullptr, set, workspace);
      return [this, &op, launch = std::move(launch)](std::uint32_t step) {
        LaunchContext context = context_of(op, step);
        context.update = updates_on_arrival_++;
        launch(context);
      };
    }
    if (!has_norm) {
      Launch launch = bind_update(step_.scenario.train, operands, nullptr, set, workspace);
      return [this, &op, launch = std::move(launch)](std::uint32_t step) { launch(context_of(op, step)); };
    }
    // Updates of a lane run one after the other, and the total is the same for all of them.
    double* const coefficient = on_host ? &host_coefficient_ : &scalars().coefficient;
    Launch launch = bind_update(step_.scenario.train, operands, coefficient, set, workspace);
    const double clip = step_.scenario.train.clip;
    const auto* total = views[0].as<double>();
    if (loss_scale_)
      return [this, &op, launch = std::move(launch), coefficient, clip, total, on_host, &workspace,
              scale = on_host ? LossScale(views.back().as<double>()) : *loss_scale_](std::uint32_t step) {
        const double square = on_host ? *total : read_square_norm(total, step);
        if (!std::isfinite(square)) return;  // after an overflow on any rank, all ranks skip the step
        double& decided = on_host ? *coefficient : host_copies().coefficient;
        decided = kernels::clip_coefficient(scale.unscaled_square(square), clip) / scale.scale();
        if (!on_host) workspace.queue().copy(coefficient, &decided, sizeof decided);
        launch(context_of(op, step, scale));
      };
    const auto clipped = set.prepare(&kernels::KernelSet::clip_coefficient, kernels::FlatSpec{DType::f64, 1});
    workspace.require(clipped.workspace_bytes);
    return [this, &op, launch = std::move(launch), coefficient, clip, total, clipped, &workspace](std::uint32_t step) {
      clipped.launch(coefficient, total, clip, workspace.stream());
      launch(context_of(op, step, {}));
    };
  }

  const StepProgram& step_;
  const RankProgram& program_;
  const Arena& arena_;
  Device& device_;
  const kernels::KernelSet &kernels_, &host_kernels_;
  LaneQueues& queues_;
  const Lane main_lane_;
  const std::int64_t skipped_updates_;
  const Memory scalars_;      ///< Scalars
  const Memory host_copies_;  ///< HostCopies
  double host_coefficient_ = 1;
  Workspace workspace_, host_workspace_;  ///< of the compute lane and of the host's
  std::optional<LossScale> loss_scale_;   ///< fp16's, if the host reads and changes it
  double* loss_scale_state_ = nullptr;    ///< its address in the device's memory
  bool is_loss_scale_known_ = false;
  std::optional<std::uint32_t> norm_read_of_;  ///< the step of the last read_square_norm()
  std::uint64_t updates_on_arrival_ = 0;       ///< an asynchronous server's, all on one lane
};

}  // namespace

std::unique_ptr<ComputeDevice> kernel_device(const StepProgram& step, const RankProgram& program, const Arena& arena,
                                             const Platform& platform, LaneQueues& queues,
                                             std::int64_t skipped_updates) {
  return std::make_unique<KernelDevice>(step, program, arena, platform, queues, skipped_updates);
}

}  // namespace rankscope
