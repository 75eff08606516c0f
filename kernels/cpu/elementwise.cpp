// Residual sum, scaling, sum over rows, sum of squares.
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {
namespace {

constexpr std::int64_t elements_per_block = 16384;

}  // namespace

Prepared<View, View, View> add(const ElementwiseSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const std::int64_t n = spec.rows * spec.width;
  return {0, [&loops, n, threads = options.threads](View y, View a, View b, const Stream&) {
            parallel_for(threads, blocks_of(n, elements_per_block), [&](std::int64_t first, std::int64_t last, int) {
              const std::int64_t from = first * elements_per_block, to = std::min(n, last * elements_per_block);
              loops.add(at(y, from), at(a, from), at(b, from), to - from);
            });
          }};
}

Prepared<View, double> scale(const FlatSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, n = spec.elements, threads = options.threads](View x, double factor, const Stream&) {
            parallel_for(threads, blocks_of(n, elements_per_block), [&](std::int64_t first, std::int64_t last, int) {
              const std::int64_t from = first * elements_per_block, to = std::min(n, last * elements_per_block);
              loops.scale(at(x, from), factor, to - from);
            });
          }};
}

Prepared<double*, View> square_norm(const FlatSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const std::int64_t n = spec.elements, blocks = blocks_of(n, elements_per_block);
  return {aligned(blocks * bytes_of(DType::f64)),
          [&loops, n, blocks, accumulate = spec.accumulate, threads = options.threads](double* out, View x,
                                                                                       const Stream& stream) {
            auto* partial = reinterpret_cast<double*>(stream.workspace);
            parallel_each(threads, blocks, [&](std::int64_t b) {
              partial[b] = loops.square_sum(at(x, b * elements_per_block),
                                            std::min(elements_per_block, n - b * elements_per_block));
            });
            double sum = 0;
            for (std::int64_t b = 0; b < blocks; ++b) sum += partial[b];
            *out = accumulate ? *out + sum : sum;
          }};
}

Prepared<double*, const double*, double> clip_coefficient(const FlatSpec&, const Options&) {
  return {0, [](double* coefficient, const double* square_norm, double clip, const Stream&) {
            *coefficient = kernels::clip_coefficient(*square_norm, clip);
          }};
}

Prepared<View, View> bias_gradient(const BiasGradientSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const std::int64_t blocks = blocks_of(spec.rows);
  return {aligned(blocks * spec.width * bytes_of(wide(spec.type))),
          [&loops, spec, blocks, threads = options.threads](View db, View dy, const Stream& stream) {
            const View partial{stream.workspace, wide(spec.type), {blocks, spec.width}};
            parallel_each(threads, blocks, [&](std::int64_t b) {
              loops.column_sums(at(partial, b * spec.width), at(dy, b * rows_per_block * spec.width),
                                std::min(rows_per_block, spec.rows - b * rows_per_block), spec.width);
            });
            loops.sum_partials(db.data, partial.data, blocks, spec.width, 0, spec.width, spec.accumulate);
          }};
}

}  // namespace rankscope::kernels::cpu
