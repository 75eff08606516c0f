#include "engine/plan/optimizer_rule/rule.hpp"

#include <stdexcept>

namespace rankscope {
namespace {

using kernels::UpdateRule;

using States = std::vector<StateSpec>;

/// A state of the parameter's shape, in the wide type: 4 bytes a parameter (fp32).
StateSpec like(const UpdateTarget& target, const char* name) { return {name, target.wide, target.shape}; }

States no_state(const UpdateTarget&) { return {}; }
States buffer(const UpdateTarget& target) { return {like(target, "b")}; }
States sum_of_squares(const UpdateTarget& target) { return {like(target, "s")}; }
States moments(const UpdateTarget& target) { return {like(target, "m"), like(target, "v")}; }
States moment_and_curvature(const UpdateTarget& target) { return {like(target, "m"), like(target, "h")}; }

/// 4·(r + c) bytes of a matrix [r, c] instead of Adam's 8·r·c; for a vector 4 bytes per element.
States means_by_row_and_column(const UpdateTarget& target) {
  const kernels::FactoredShape shape(target.shape);
  if (!shape.factored) return {like(target, "v")};
  return {{"row", target.wide, {shape.rows}}, {"column", target.wide, {shape.columns}}};
}

/// 2 + 8/256 bytes a parameter (fp32) instead of 8. Tensors of fewer than 4096 elements (norms, biases) keep moments in
/// full, like the paper's own software: they need little memory, and their values are sensitive.
States quantised_moments(const UpdateTarget& target) {
  constexpr std::int64_t least_quantised = 4096;
  if (target.tensor_elements < least_quantised) return moments(target);
  const std::int64_t blocks = (target.shape.elements() + kernels::quantised_block - 1) / kernels::quantised_block;
  return {{"m", DType::u8, target.shape},
          {"v", DType::u8, target.shape},
          {"m_scale", target.wide, {blocks}},
          {"v_scale", target.wide, {blocks}}};
}

constexpr OptimizerRule table[] = {
    {.name = "sgd",
     .what = "stochastic gradient descent",
     .kernel = UpdateRule::sgd,
     .defaults = {.weight_decay = 0.0},
     .states = no_state},
    {.name = "momentum",
     .what = "SGD with momentum, Nesterov's if asked (Polyak 1964; Sutskever et al. 2013)",
     .kernel = UpdateRule::momentum,
     .defaults = {.weight_decay = 0.0, .momentum = 0.9, .nesterov = false},
     .states = buffer},
    {.name = "adagrad",
     .what = "Adagrad (Duchi, Hazan and Singer 2011)",
     .kernel = UpdateRule::adagrad,
     .defaults = {.weight_decay = 0.0, .epsilon = 1e-10},
     .states = sum_of_squares,
     .parity_epsilon = 1e-6},
    {.name = "adam",
     .what = "Adam, decay added to the gradient (Kingma and Ba 2015)",
     .kernel = UpdateRule::adam,
     .defaults = {.weight_decay = 0.0, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
     .states = moments,
     .parity_epsilon = 1e-6},
    {.name = "adamw",
     .what = "Adam with decay apart from the gradient (Loshchilov and Hutter 2019)",
     .kernel = UpdateRule::adamw,
     .defaults = {.weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
     .states = moments,
     .parity_epsilon = 1e-6},
    {.name = "radam",
     .what = "Adam with a rectified second moment (Liu et al. 2020)",
     .kernel = UpdateRule::radam,
     .defaults = {.weight_decay = 0.0, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
     .states = moments,
     .parity_epsilon = 1e-6},
    {.name = "adafactor",
     .what = "second moments from row and column means, updates clipped (Shazeer and Stern 2018)",
     .kernel = UpdateRule::adafactor,
     .defaults = {.weight_decay = 0.0, .epsilon = 1e-30, .beta2_decay = 0.8, .epsilon2 = 1e-3, .update_clip = 1.0},
     .states = means_by_row_and_column,
     .parity_epsilon = 1e-12,  // it is added to the square
     .grain = 0,
     .gradient_passes = 3,
     .parameter_passes = 2},
    {.name = "adam8bit",
     .what = "AdamW with moments of a byte an element (Dettmers et al. 2022)",
     .kernel = UpdateRule::adam8bit,
     .defaults = {.weight_decay = 0.0, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
     .states = quantised_moments,
     // A second moment may be rounded to 0 while the first is not: then this is the only divisor.
     .parity_epsilon = 1e-6,
     .grain = kernels::quantised_block},
    {.name = "sophia",
     .what = "Sophia's clipped step with the empirical Fisher as curvature, not Sophia-G's sampled labels (after Liu "
             "et al. 2024)",
     .kernel = UpdateRule::sophia,
     .defaults =
         {.weight_decay = 0.1, .beta1 = 0.96, .beta2 = 0.99, .epsilon = 1e-12, .gamma = 0.05, .hessian_interval = 10},
     .states = moment_and_curvature,
     // It divides a mean of gradients by this, not by their size: without clipping, rounding errors are scaled by 1/ε.
     .parity_epsilon = 1e-6},
    {.name = "lars",
     .what = "momentum, each matrix's step relative to its size; for large batches (You, Gitman and Ginsburg 2017)",
     .kernel = UpdateRule::lars,
     .defaults = {.weight_decay = 1e-4, .momentum = 0.9, .trust = 1e-3},
     .states = buffer,
     .grain = 0,
     .gradient_passes = 2,
     .parameter_passes = 2,
     .relative = true},
    {.name = "lamb",
     .what = "AdamW, each matrix's step relative to its size; for large batches (You et al. 2020)",
     .kernel = UpdateRule::lamb,
     .defaults = {.weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-6},
     .states = moments,
     .parity_epsilon = 1e-6,
     .grain = 0,
     .parameter_passes = 2,
     .state_passes = 2,
     .relative = true},
};

}  // namespace

std::span<const OptimizerRule> optimizer_rules() { return table; }

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerRule& rule : optimizer_rules()) names.emplace_back(rule.name);
  return names;
}

std::vector<std::string> walking_optimizers() {
  std::vector<std::string> names;
  for (const OptimizerRule& rule : optimizer_rules())
    if (!rule.relative) names.emplace_back(rule.name);
  return names;
}

const OptimizerRule& optimizer_rule(std::string_view name) {
  for (const OptimizerRule& rule : optimizer_rules())
    if (rule.name == name) return rule;
  std::string message = "unknown optimizer '" + std::string(name) + "'; known:";
  for (const OptimizerRule& rule : optimizer_rules()) message.append(" ").append(rule.name);
  throw std::invalid_argument(message);
}

std::vector<StateSpec> states_of(const OptimizerRule& rule, const UpdateTarget& target) {
  std::vector<StateSpec> states = rule.states(target);
  if (target.master()) states.insert(states.begin(), like(target, "master"));
  return states;
}

kernels::UpdateStep step_with(const HyperParameters& hyper) {
  kernels::UpdateStep step;
  const auto take = [](auto& number, const auto& given) { number = given.value_or(number); };
  take(step.weight_decay, hyper.weight_decay);
  take(step.momentum, hyper.momentum);
  take(step.nesterov, hyper.nesterov);
  take(step.beta1, hyper.beta1);
  take(step.beta2, hyper.beta2);
  take(step.epsilon, hyper.epsilon);
  take(step.beta2_decay, hyper.beta2_decay);
  take(step.epsilon2, hyper.epsilon2);
  take(step.update_clip, hyper.update_clip);
  take(step.gamma, hyper.gamma);
  take(step.hessian_interval, hyper.hessian_interval);
  take(step.trust, hyper.trust);
  return step;
}

}  // namespace rankscope
