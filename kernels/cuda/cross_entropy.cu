// Softmax and cross-entropy, a block for each row, which it reads twice: once for the greatest logit and the sum of the
// exponentials together, once for the gradient. Sums of a row and of the losses in fp64.
#include <string>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/softmax.cuh"

namespace rankscope::kernels::cuda {
namespace {

/// gradient and logits may be the same memory. loss[row] in nats.
template <class G, class T>
__global__ void __launch_bounds__(most_row_threads)
    softmax_gradient(G* gradient, double* loss, const T* logits, const std::int32_t* targets, int64_t vocabulary,
                     double scale) {
  using A = Arithmetic<T>;
  const int64_t row = blockIdx.x, target = targets[row];
  logits += row * vocabulary;
  gradient += row * vocabulary;
  const A at_target = widen(logits[target]);  // all threads read it before any write: there are reductions in between
  RunningSum<A> running;
  for_row(logits, vocabulary, [&](int64_t, auto& values) { running.add(values); });
  const A top = over_block(running.top, least_value<A>(), Greater{});
  const double sum = block_sum(running.sum_below(top));
  const double row_loss = log(sum) + (static_cast<double>(top) - static_cast<double>(at_target));
  if (threadIdx.x == 0) loss[row] = row_loss;
  const A factor = static_cast<A>(scale / sum);
  // p - 1 from the loss itself, without cancellation if p is near 1.
  const A slope = static_cast<A>(scale * expm1(-row_loss));
  rewrite_row(gradient, logits, vocabulary, [&](int64_t j, auto& values) {
    constexpr int n = count_of<decltype(values)>;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const A probability = exp_of(values[i] - top) * factor;  // also for the target: no branches
      values[i] = j + i == target ? slope : probability;
    }
  });
}

template <class G, class T>
Prepared<View, View, View, View, double> prepared(const CrossEntropySpec& spec) {
  return {aligned(spec.rows * bytes_of(DType::f64)),
          [spec](View gradient, View loss, View logits, View targets, double scale, const Stream& stream) {
            auto* row_loss = reinterpret_cast<double*>(stream.workspace);
            const dim3 block(threads_for_row(spec.vocabulary, pack<T>, most_row_threads));
            launch(softmax_gradient<G, T>, {grid_of(spec.rows), block}, stream, gradient.as<G>(), row_loss,
                   logits.as<const T>(), targets.as<const std::int32_t>(), spec.vocabulary, scale);
            launch(sum_values, {grid_of(1), dim3(reducers)}, stream, loss.as<double>(), row_loss, spec.rows,
                   spec.accumulate_loss);
          }};
}

}  // namespace

Prepared<View, View, View, View, double> cross_entropy(const CrossEntropySpec& spec, const Options&) {
  return with_type(spec.type, [&]<class G>(Tag<G>) -> Prepared<View, View, View, View, double> {
    if (spec.logits_type == spec.type) return prepared<G, G>(spec);
    if (spec.logits_type == wide(spec.type)) return prepared<G, Arithmetic<G>>(spec);
    throw Unsupported("the kernel set 'cuda' has no cross_entropy of logits in " +
                      std::string(rankscope::name_of(spec.logits_type)) + " for a gradient in " +
                      std::string(rankscope::name_of(spec.type)));
  });
}

}  // namespace rankscope::kernels::cuda
