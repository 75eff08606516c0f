#include "engine/execute/optimizer/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/tensor/magnitude.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

[[noreturn]] void refuse(const std::string& what, DType type, const Shape& shape) {
  throw std::invalid_argument(
      fmt::format("an optimizer's update needs a {} in {} of {} elements", what, name_of(type), shape.elements()));
}

void check(const View& view, const std::string& what, DType type, const Shape& shape) {
  if (view.data == nullptr || view.type != type || view.elements() != shape.elements()) refuse(what, type, shape);
}

UpdateTarget target_of(DType type, const Shape& shape) {
  return UpdateTarget::whole(type, accumulation_type(type), shape);
}

/// Throws if the operands do not fit the rule.
kernels::UpdateOperand operand_of(const UpdateOperands& operands, const OptimizerRule& rule) {
  UpdateTarget target = target_of(operands.parameter.type, operands.parameter.shape);
  if (operands.tensor_elements > 0) target.tensor_elements = operands.tensor_elements;
  const std::vector<StateSpec> states = states_of(rule, target);
  check(operands.parameter, "parameter", target.type, target.shape);
  check(operands.gradient, "gradient", target.wide, target.shape);
  for (std::size_t s = 0; s < states.size(); ++s)
    check(s < operands.states.size() ? operands.states[s] : View{}, states[s].name, states[s].type, states[s].shape);
  kernels::UpdateOperand operand{operands.parameter, {}, operands.gradient, {}, operands.decay};
  const std::size_t masters = target.master() ? 1 : 0;
  if (target.master()) operand.master = operands.states.front();
  for (std::size_t s = masters; s < states.size(); ++s) operand.states[s - masters] = operands.states[s];
  return operand;
}

bool all_in(DType type, std::span<const View> tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [type](const View& v) { return v.type == type; });
}

}  // namespace

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
  std::map<DType, kernels::UpdateSpec> by_type;
  for (const UpdateOperands& operands : parameters) {
    const DType type = operands.parameter.type;
    by_type.try_emplace(type, kernels::UpdateSpec{rule.kernel, type, {}})
        .first->second.tensors.push_back(operand_of(operands, rule));
  }
  using Prepared = decltype(kernels.prepare(&KernelSet::update, kernels::UpdateSpec{}));
  std::vector<Prepared> updates;
  for (const auto& [type, spec] : by_type) {
    updates.push_back(kernels.prepare(&KernelSet::update, spec));
    workspace.require(updates.back().workspace_bytes);
  }
  return [updates = std::move(updates), common = step_with(resolved(train.hyper, rule.defaults)),
          rate = LearningRate(train), clip_coefficient, &workspace](const LaunchContext& context) {
    kernels::UpdateStep step = common;
    step.learning_rate = rate.at(context.step);
    step.gradient_scale = {1.0, clip_coefficient};
    step.t = context.update.value_or(context.step) + 1;
    step.batch = static_cast<double>(context.global_tokens);
    for (const Prepared& update : updates) update.launch(step, workspace.stream());
  };
}

}  // namespace rankscope
