#include "engine/optimizer/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

namespace rankscope {
namespace {

using kernels::KernelSet;

bool is_adamw(const TrainSpec& train) {
  if (train.optimizer == "adamw") return true;
  if (train.optimizer == "sgd") return false;
  throw std::invalid_argument("unknown optimizer '" + train.optimizer + "'; known: sgd, adamw");
}

bool needs_master(DType parameter_type) { return accumulation_type(parameter_type) != parameter_type; }

void check(const UpdateOperands& operands, const View& view, DType type, const char* what) {
  if (view.data == nullptr || view.type != type || view.elements() != operands.parameter.elements())
    throw std::invalid_argument(std::string("an optimizer's update needs a ")
                                    .append(what)
                                    .append(" in ")
                                    .append(name_of(type))
                                    .append(" of ")
                                    .append(std::to_string(operands.parameter.elements()))
                                    .append(" elements"));
}

void check(const UpdateOperands& operands, bool adamw) {
  const DType wide = accumulation_type(operands.parameter.type);
  check(operands, operands.parameter, operands.parameter.type, "parameter");
  check(operands, operands.gradient, wide, "gradient");
  if (needs_master(operands.parameter.type)) check(operands, operands.master, wide, "master");
  if (adamw) {
    check(operands, operands.m, wide, "first moment");
    check(operands, operands.v, wide, "second moment");
  }
}

kernels::UpdateSpec spec_of(const UpdateOperands& operands) {
  return {.type = operands.parameter.type,
          .elements = operands.parameter.elements(),
          .master = needs_master(operands.parameter.type)};
}

/// One parameter's prepared update.
template <class Prepared>
struct Update {
  UpdateOperands operands;
  Prepared kernel;
};

/// Calls run(update, rate, weight decay, gradient scale, context, stream) for every parameter.
template <class Op, class Run>
Launch bind_updates(Op op, const TrainSpec& train, std::span<const UpdateOperands> parameters,
                    const double* clip_coefficient, const KernelSet& kernels, Workspace& workspace, Run run) {
  using Prepared = decltype(kernels.prepare(op, kernels::UpdateSpec{}));
  std::vector<Update<Prepared>> updates;
  for (const UpdateOperands& operands : parameters) {
    updates.push_back({operands, kernels.prepare(op, spec_of(operands))});
    workspace.require(updates.back().kernel.workspace_bytes);
  }
  return [updates = std::move(updates), rate = LearningRate(train), decay = train.weight_decay, clip_coefficient,
          &workspace, run](const LaunchContext& context) {
    const kernels::Stream stream{workspace.data(), nullptr};
    const double scale = clip_coefficient ? *clip_coefficient : 1.0;
    for (const auto& update : updates)
      run(update, rate.at(context.step), update.operands.decay ? decay : 0.0, scale, context, stream);
  };
}

}  // namespace

std::vector<StateSpec> optimizer_states(const TrainSpec& train, DType parameter_type) {
  std::vector<StateSpec> states;
  const DType type = accumulation_type(parameter_type);
  if (needs_master(parameter_type)) states.push_back({StateSpec::Role::master, "master", type});
  if (is_adamw(train)) {
    states.push_back({StateSpec::Role::m, "m", type});
    states.push_back({StateSpec::Role::v, "v", type});
  }
  return states;
}

double clip_coefficient(double square_norm, double clip) {
  return clip > 0 ? std::min(1.0, clip / (std::sqrt(square_norm) + 1e-6)) : 1.0;
}

Launch bind_square_norm(std::span<const View> gradients, double* out, const KernelSet& kernels, Workspace& workspace) {
  using Prepared = decltype(kernels.prepare(&KernelSet::square_norm, kernels::FlatSpec{}));
  struct Norm {
    View gradient;
    Prepared kernel;
  };
  std::vector<Norm> norms;
  for (const View& gradient : gradients) {
    norms.push_back(
        {gradient, kernels.prepare(&KernelSet::square_norm, kernels::FlatSpec{gradient.type, gradient.elements()})});
    workspace.require(norms.back().kernel.workspace_bytes);
  }
  return [norms = std::move(norms), out, &workspace](const LaunchContext&) {
    const kernels::Stream stream{workspace.data(), nullptr};
    double sum = 0;
    for (const Norm& norm : norms) {
      double square = 0;
      norm.kernel.launch(&square, norm.gradient, stream);
      sum += square;
    }
    *out = sum;
  };
}

Launch bind_update(const TrainSpec& train, std::span<const UpdateOperands> parameters, const double* clip_coefficient,
                   const KernelSet& kernels, Workspace& workspace) {
  const bool adamw = is_adamw(train);
  for (const UpdateOperands& operands : parameters) check(operands, adamw);
  if (!adamw)
    return bind_updates(&KernelSet::sgd_update, train, parameters, clip_coefficient, kernels, workspace,
                        [](const auto& update, double rate, double decay, double scale, const LaunchContext&,
                           const kernels::Stream& stream) {
                          const UpdateOperands& of = update.operands;
                          update.kernel.launch(of.parameter, of.master, of.gradient, {rate, decay, scale}, stream);
                        });
  return bind_updates(&KernelSet::adamw_update, train, parameters, clip_coefficient, kernels, workspace,
                      [beta1 = train.beta1, beta2 = train.beta2, epsilon = train.epsilon](
                          const auto& update, double rate, double decay, double scale, const LaunchContext& context,
                          const kernels::Stream& stream) {
                        const UpdateOperands& of = update.operands;
                        update.kernel.launch(of.parameter, of.master, of.m, of.v, of.gradient,
                                             {rate, decay, beta1, beta2, epsilon, scale, context.step + 1}, stream);
                      });
}

}  // namespace rankscope
