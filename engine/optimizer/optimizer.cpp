#include "engine/optimizer/optimizer.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/tensor/magnitude.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

[[noreturn]] void refuse(const std::string& what, DType type, const Shape& shape) {
  throw std::invalid_argument(std::string("an optimizer's update needs a ")
                                  .append(what)
                                  .append(" in ")
                                  .append(name_of(type))
                                  .append(" of ")
                                  .append(std::to_string(shape.elements()))
                                  .append(" elements"));
}

void check(const View& view, const std::string& what, DType type, const Shape& shape) {
  if (view.data == nullptr || view.type != type || view.elements() != shape.elements()) refuse(what, type, shape);
}

UpdateTarget target_of(DType type, const Shape& shape) {
  return UpdateTarget::whole(type, accumulation_type(type), shape);
}

/// Sorts the operands for the rule; throws when they are not what it needs.
UpdateViews views_of(const UpdateOperands& operands, const OptimizerRule& rule, const UpdateTarget& target) {
  const std::vector<StateSpec> states = states_of(rule, target);
  check(operands.parameter, "parameter", target.type, target.shape);
  check(operands.gradient, "gradient", target.wide, target.shape);
  for (std::size_t s = 0; s < states.size(); ++s)
    check(s < operands.states.size() ? operands.states[s] : View{}, states[s].name, states[s].type, states[s].shape);
  UpdateViews views{operands.parameter, {}, operands.gradient, operands.states, operands.decay};
  if (target.master()) {
    views.master = views.states.front();
    views.states.erase(views.states.begin());
  }
  return views;
}

/// One parameter's prepared update.
struct Update {
  UpdateViews views;
  double weight_decay;
  PreparedUpdate kernel;
};

double decay_of(const UpdateOperands& operands, const HyperParameters& hyper) {
  return operands.decay ? hyper.weight_decay.value_or(0.0) : 0.0;
}

bool all_in(DType type, std::span<const View> tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [type](const View& v) { return v.type == type; });
}

/// What the launches of an update are told, but for the decay.
class Steps {
 public:
  Steps(const TrainSpec& train, const double* clip_coefficient) : rate_(train), clip_coefficient_(clip_coefficient) {}
  UpdateStep at(const LaunchContext& context) const {
    UpdateStep step;
    step.learning_rate = rate_.at(context.step);
    step.gradient_scale = {1.0, clip_coefficient_};
    step.t = context.update.value_or(context.step) + 1;
    step.batch = context.global_tokens;
    return step;
  }

 private:
  LearningRate rate_;
  const double* clip_coefficient_;
};

/// All parameters at once; null where the set, the rule or the types are not for that.
Launch bind_together(const OptimizerRule& rule, const HyperParameters& hyper, const Steps& steps,
                     const std::vector<UpdateViews>& views, const KernelSet& kernels, Workspace& workspace) {
  if (rule.together == nullptr || views.empty()) return {};
  for (const UpdateViews& of : views)
    if (of.parameter.type != views.front().parameter.type) return {};
  const PreparedUpdates kernel = rule.together(kernels, views, hyper);
  if (!kernel.launch) return {};
  workspace.require(kernel.workspace_bytes);
  return [kernel, steps, decay = hyper.weight_decay.value_or(0.0), &workspace](const LaunchContext& context) {
    UpdateStep step = steps.at(context);
    step.weight_decay = decay;
    kernel.launch(step, workspace.stream());
  };
}

}  // namespace

std::vector<StateSpec> optimizer_states(const TrainSpec& train, DType parameter_type, const Shape& shape) {
  return states_of(optimizer_rule(train.optimizer), target_of(parameter_type, shape));
}

std::function<void(double* counts)> bind_count_magnitudes(std::span<const View> gradients, const KernelSet& kernels,
                                                          Workspace& workspace) {
  using Prepared = decltype(kernels.prepare(&KernelSet::count_magnitudes, kernels::FlatSpec{}));
  std::vector<std::pair<View, Prepared>> each;
  for (const View& gradient : gradients) {
    each.emplace_back(
        gradient, kernels.prepare(&KernelSet::count_magnitudes, kernels::FlatSpec{gradient.type, gradient.elements()}));
    workspace.require(each.back().second.workspace_bytes);
  }
  return [each = std::move(each), &workspace](double* counts) {
    const View into{counts, DType::f64, {magnitude_bins}};
    for (const auto& [gradient, kernel] : each) kernel.launch(into, gradient, workspace.stream());
  };
}

Launch bind_square_norm(std::span<const View> gradients, double* out, const KernelSet& kernels, Workspace& workspace) {
  if (kernels.square_norms.make != nullptr && !gradients.empty() && all_in(gradients.front().type, gradients)) {
    const auto kernel =
        kernels.prepare(&KernelSet::square_norms,
                        kernels::SquareNormsSpec{gradients.front().type, {gradients.begin(), gradients.end()}});
    workspace.require(kernel.workspace_bytes);
    return [kernel, out, &workspace](const LaunchContext&) { kernel.launch(out, workspace.stream()); };
  }
  using Prepared = decltype(kernels.prepare(&KernelSet::square_norm, kernels::FlatSpec{}));
  struct Norm {
    View gradient;
    Prepared kernel;
  };
  std::vector<Norm> norms;
  for (const View& gradient : gradients) {
    const bool accumulate = !norms.empty();
    norms.push_back({gradient, kernels.prepare(&KernelSet::square_norm,
                                               kernels::FlatSpec{gradient.type, gradient.elements(), accumulate})});
    workspace.require(norms.back().kernel.workspace_bytes);
  }
  return [norms = std::move(norms), out, &workspace](const LaunchContext&) {
    if (norms.empty()) workspace.queue().fill(out, 0, sizeof *out);
    for (const Norm& norm : norms) norm.kernel.launch(out, norm.gradient, workspace.stream());
  };
}

Launch bind_update(const TrainSpec& train, std::span<const UpdateOperands> parameters, const double* clip_coefficient,
                   const KernelSet& kernels, Workspace& workspace) {
  const OptimizerRule& rule = optimizer_rule(train.optimizer);
  const HyperParameters hyper = resolved(train.hyper, rule.defaults);
  const Steps steps(train, clip_coefficient);
  std::vector<UpdateTarget> targets;
  std::vector<UpdateViews> views;
  for (const UpdateOperands& operands : parameters) {
    UpdateTarget& target = targets.emplace_back(target_of(operands.parameter.type, operands.parameter.shape));
    if (operands.tensor_elements > 0) target.tensor_elements = operands.tensor_elements;
    views.push_back(views_of(operands, rule, target));
  }
  if (Launch together = bind_together(rule, hyper, steps, views, kernels, workspace)) return together;
  std::vector<Update> updates;
  for (std::size_t i = 0; i < views.size(); ++i) {
    updates.push_back({views[i], decay_of(parameters[i], hyper), rule.prepare(kernels, targets[i], hyper)});
    workspace.require(updates.back().kernel.workspace_bytes);
  }
  return [updates = std::move(updates), steps, &workspace](const LaunchContext& context) {
    const kernels::Stream stream = workspace.stream();
    UpdateStep step = steps.at(context);
    for (const Update& update : updates) {
      step.weight_decay = update.weight_decay;
      update.kernel.launch(update.views, step, stream);
    }
  };
}

}  // namespace rankscope
