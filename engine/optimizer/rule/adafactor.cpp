// Adafactor (Shazeer and Stern 2018, arXiv 1804.04235, algorithms 4 and 5, without a first moment): a matrix keeps the
// means of its squared gradients by row and by column, whose outer product over their mean is its second moment; an
// update is clipped to a root mean square of `update_clip` and its step is relative to the parameter's size. The
// learning rate stands where the paper has 10^-2 (ρ_t = min(rate, 1/√t)), as in PyTorch 2. States of a matrix [r, c]:
// 4·(r
// + c) bytes instead of Adam's 8·r·c; of a vector 4 bytes an element.
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {
namespace {

std::vector<StateSpec> states(const UpdateTarget& target) {
  const Shape& shape = target.shape;
  if (shape.rank < 2) return {like(target, "v")};
  const std::int64_t columns = shape[shape.rank - 1];
  return {{"row", target.wide, {shape.elements() / columns}}, {"column", target.wide, {columns}}};
}

kernels::AdafactorStep step_of(const UpdateStep& step, const HyperParameters& hyper) {
  return {step.learning_rate, step.weight_decay,  *hyper.beta2_decay,  *hyper.epsilon,
          *hyper.epsilon2,    *hyper.update_clip, step.gradient_scale, step.t};
}

/// Rows and columns of a tensor; one row of what is not factored.
struct Matrix {
  bool factored;
  std::int64_t rows, columns;
  explicit Matrix(const Shape& shape)
      : factored(shape.rank >= 2),
        rows(factored ? shape.elements() / shape[shape.rank - 1] : 1),
        columns(factored ? shape[shape.rank - 1] : shape.elements()) {}
};

PreparedUpdates together(const kernels::KernelSet& set, std::span<const UpdateViews> tensors,
                         const HyperParameters& hyper) {
  if (set.adafactor_updates.make == nullptr) return {};
  kernels::AdafactorsSpec spec{tensors.front().parameter.type, {}};
  for (const UpdateViews& of : tensors) {
    const Matrix matrix(of.parameter.shape);
    spec.tensors.push_back({of.parameter, of.master, matrix.factored ? of.state(0) : View{}, of.states.back(),
                            of.gradient, matrix.rows, matrix.columns, of.decays});
  }
  auto kernel = set.prepare(&kernels::KernelSet::adafactor_updates, spec);
  return {kernel.workspace_bytes,
          [launch = std::move(kernel.launch), hyper](const UpdateStep& step, const kernels::Stream& stream) {
            launch(step_of(step, hyper), stream);
          }};
}

PreparedUpdate prepare(const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters& hyper) {
  const Matrix matrix(target.shape);
  auto kernel = set.prepare(&kernels::KernelSet::adafactor_update, kernels::AdafactorSpec{.type = target.type,
                                                                                          .rows = matrix.rows,
                                                                                          .columns = matrix.columns,
                                                                                          .factored = matrix.factored,
                                                                                          .master = target.master()});
  return {kernel.workspace_bytes, [launch = std::move(kernel.launch), hyper, factored = matrix.factored](
                                      const UpdateViews& of, const UpdateStep& step, const kernels::Stream& stream) {
            launch(of.parameter, of.master, factored ? of.states[0] : View{}, of.states.back(), of.gradient,
                   step_of(step, hyper), stream);
          }};
}

}  // namespace

OptimizerRule adafactor() {
  return {.name = "adafactor",
          .what = "second moments from row and column means, updates clipped (Shazeer and Stern 2018)",
          .defaults = {.weight_decay = 0.0, .epsilon = 1e-30, .beta2_decay = 0.8, .epsilon2 = 1e-3, .update_clip = 1.0},
          .grain = 0,
          .gradient_passes = 3,
          .parameter_passes = 2,
          .parity_epsilon = 1e-12,  // it stands beside the square
          .states = states,
          .together = together,
          .prepare = prepare};
}

}  // namespace rankscope::rules
