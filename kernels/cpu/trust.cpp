// LARS and LAMB: a first pass for the norms of a tensor and of its step, a second one for the step.
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/stretch.hpp"

namespace rankscope::kernels::cpu {
namespace {

template <class Body>
void each_block(int threads, std::int64_t elements, Body body) {
  parallel_each(threads, blocks_of(elements, elements_per_block), [&](std::int64_t b) {
    const std::int64_t from = b * elements_per_block;
    body(b, from, std::min(elements - from, elements_per_block));
  });
}

/// `squares`: space for two numbers per block.
void update_tensor(UpdateRule rule, const UpdateOperand& o, const UpdateStep& step, const Loops& loops, int threads,
                   double* squares) {
  const std::int64_t elements = o.parameter.elements();
  each_block(threads, elements, [&](std::int64_t b, std::int64_t from, std::int64_t count) {
    loops.trust_measure(rule, stretch_of(o, from), count, step, squares + 2 * b);
  });
  double of_parameter = 0, of_measured = 0;
  for (std::int64_t b = 0; b < blocks_of(elements, elements_per_block); ++b) {
    of_parameter += squares[2 * b];
    of_measured += squares[2 * b + 1];
  }
  const double ratio = o.relative() ? TrustRatio(rule, step).of(of_parameter, of_measured) : 1;
  each_block(threads, elements, [&](std::int64_t, std::int64_t from, std::int64_t count) {
    loops.trust_descent(rule, stretch_of(o, from), count, step, ratio);
  });
}

}  // namespace

Prepared<UpdateStep> trust_update(const UpdateSpec& spec, const Options& options) {
  std::int64_t most = 0;
  for (const UpdateOperand& o : spec.tensors) most = std::max(most, o.parameter.elements());
  const std::int64_t bytes = aligned(2 * blocks_of(most, elements_per_block) * bytes_of(DType::f64));
  const Loops& loops = loops_for(spec.type, options);
  return {bytes, [&loops, spec, threads = options.threads](const UpdateStep& given, const Stream& stream) {
            UpdateStep step = given;
            step.gradient_scale = given.gradient_scale.now();
            for (const UpdateOperand& o : spec.tensors) {
              step.weight_decay = o.decays ? given.weight_decay : 0;
              update_tensor(spec.rule, o, step, loops, threads, reinterpret_cast<double*>(stream.workspace));
            }
          }};
}

}  // namespace rankscope::kernels::cpu
