// Cross-entropy over a vocabulary that tensor ranks share, in two passes with one exchange of three numbers per row and
// rank between them. The ranks' numbers are combined in rank order, so that all results are bit-identical.
#include <string>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/softmax.cuh"

namespace rankscope::kernels::cuda {
namespace {

/// E: exponentials, L: logits; they may be the same memory when both are one type.
template <class E, class L>
__global__ void __launch_bounds__(most_row_threads)
    keep_exponentials(E* exponentials, Arithmetic<E>* statistics, const L* logits, const std::int32_t* targets,
                      int64_t columns, const VocabularyPart part) {
  using A = Arithmetic<E>;
  const int64_t row = blockIdx.x, word = targets[row] - part.first;
  logits += row * columns;
  exponentials += row * columns;
  const A at_target = word >= 0 && word < part.count ? widen(logits[word]) : A(0);  // before its place is taken
  A top = least_value<A>();
  for_row(logits, part.count, [&](int64_t, auto& values) {
    constexpr int n = count_of<decltype(values)>;
#pragma unroll
    for (int i = 0; i < n; ++i) top = greater(top, values[i]);
  });
  top = over_block(top, least_value<A>(), Greater{});
  double sum = 0;
  rewrite_row(exponentials, logits, columns, [&](int64_t j, auto& values) {
    constexpr int n = count_of<decltype(values)>;
    A together = 0;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      values[i] = j + i < part.count ? exp_of(values[i] - top) : A(0);
      together += values[i];
    }
    sum += static_cast<double>(together);
  });
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    statistics[row * vocabulary_statistics] = top;
    statistics[row * vocabulary_statistics + 1] = static_cast<A>(sum);
    statistics[row * vocabulary_statistics + 2] = at_target;
  }
}

template <class E>
__global__ void __launch_bounds__(most_row_threads)
    gradient_of_exponentials(E* gradient, double* loss, const Arithmetic<E>* statistics, const std::int32_t* targets,
                             double scale, int64_t rows, int64_t columns, int64_t ranks, const VocabularyPart part) {
  using A = Arithmetic<E>;
  const int64_t row = blockIdx.x, word = targets[row] - part.first;
  const auto of = [&](int64_t rank, int which) {
    return static_cast<double>(statistics[(rank * rows + row) * vocabulary_statistics + which]);
  };
  double greatest = of(0, 0), sum = 0, target = 0;
  for (int64_t rank = 1; rank < ranks; ++rank) greatest = greater(greatest, of(rank, 0));
  for (int64_t rank = 0; rank < ranks; ++rank) {
    sum += of(rank, 1) * exp(of(rank, 0) - greatest);
    target += of(rank, 2);
  }
  const double row_loss = log(sum) + (greatest - target);
  if (threadIdx.x == 0) loss[row] = row_loss;
  const A factor = static_cast<A>(scale * exp(of(part.index, 0) - greatest) / sum);
  // p - 1 from the loss itself, without cancellation if p is near 1.
  const A slope = static_cast<A>(scale * expm1(-row_loss));
  const bool here = word >= 0 && word < part.count;
  E* own = gradient + row * columns;
  rewrite_row(own, own, columns, [&](int64_t j, auto& values) {
    constexpr int n = count_of<decltype(values)>;
#pragma unroll
    for (int i = 0; i < n; ++i) values[i] = here && j + i == word ? slope : values[i] * factor;
  });
}

void check_types(const VocabularySpec& spec, const char* op) {
  if (spec.logits_type != spec.type && spec.logits_type != wide(spec.type))
    throw Unsupported("the kernel set 'cuda' has no " + std::string(op) + " of logits in " +
                      std::string(rankscope::name_of(spec.logits_type)) + " for a gradient in " +
                      std::string(rankscope::name_of(spec.type)));
}

template <class E, class L>
Prepared<View, View, View, View, VocabularyPart> numerators(const VocabularySpec& spec) {
  return {0, [spec](View exponentials, View statistics, View logits, View targets, VocabularyPart part,
                    const Stream& stream) {
            const dim3 block(threads_for_row(spec.columns, pack<L>, most_row_threads));
            launch(keep_exponentials<E, L>, {grid_of(spec.rows), block}, stream, exponentials.as<E>(),
                   statistics.as<Arithmetic<E>>(), logits.as<const L>(), targets.as<const std::int32_t>(), spec.columns,
                   part);
          }};
}

}  // namespace

Prepared<View, View, View, View, VocabularyPart> vocabulary_numerators(const VocabularySpec& spec, const Options&) {
  check_types(spec, "vocabulary_numerators");
  return with_type(spec.type, [&]<class E>(Tag<E>) {
    return spec.logits_type == spec.type ? numerators<E, E>(spec) : numerators<E, Arithmetic<E>>(spec);
  });
}

Prepared<View, View, View, View, double, VocabularyPart> vocabulary_loss(const VocabularySpec& spec, const Options&) {
  check_types(spec, "vocabulary_loss");
  return with_type(spec.type, [&]<class E>(Tag<E>) -> Prepared<View, View, View, View, double, VocabularyPart> {
    using A = Arithmetic<E>;
    return {aligned(spec.rows * bytes_of(DType::f64)), [spec](View gradient, View loss, View statistics, View targets,
                                                              double scale, VocabularyPart part, const Stream& stream) {
              auto* row_loss = reinterpret_cast<double*>(stream.workspace);
              const dim3 block(threads_for_row(spec.columns, pack<E>, most_row_threads));
              launch(gradient_of_exponentials<E>, {grid_of(spec.rows), block}, stream, gradient.as<E>(), row_loss,
                     statistics.as<const A>(), targets.as<const std::int32_t>(), scale, spec.rows, spec.columns,
                     spec.ranks, part);
              launch(sum_values, {grid_of(1), dim3(reducers)}, stream, loss.as<double>(), row_loss, spec.rows,
                     spec.accumulate_loss);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
