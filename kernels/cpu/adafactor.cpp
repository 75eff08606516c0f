// Adafactor: the second moments of a matrix from its row and column means.
#include <cmath>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/tensor/element.hpp"

namespace rankscope::kernels::cpu {
namespace {

/// Scratch of one launch, in this order, each aligned.
struct Scratch {
  View partial, squares, roots;                   ///< of columns: [blocks, columns], [columns], [columns]
  double *row_squares, *parameter_squares, *sum;  ///< by row
  std::int64_t bytes;
};

Scratch lay_out(std::byte* base, const AdafactorSpec& spec, std::int64_t blocks) {
  std::int64_t used = 0;
  const auto take = [&](std::int64_t bytes) {
    std::byte* at = base + used;
    used += aligned(bytes);
    return at;
  };
  const DType type = wide(spec.type);
  const auto columns = [&](std::int64_t rows) {
    return View{take(rows * spec.columns * bytes_of(type)), type, {rows, spec.columns}};
  };
  const auto of_rows = [&] { return reinterpret_cast<double*>(take(spec.rows * bytes_of(DType::f64))); };
  Scratch s{};
  s.partial = columns(blocks);
  s.squares = columns(1);
  s.roots = columns(1);
  s.row_squares = of_rows();
  s.parameter_squares = of_rows();
  s.sum = of_rows();
  s.bytes = used;
  return s;
}

double total(const double* values, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += values[i];
  return sum;
}

}  // namespace

Prepared<View, View, View, View, View, AdafactorStep> adafactor_update(const AdafactorSpec& spec,
                                                                       const Options& options) {
  if (!spec.factored && spec.rows != 1)
    throw Unsupported("the kernel set 'cpu' has no adafactor_update that is not factored of more than one row");
  const Loops& loops = loops_for(spec.type, options);
  const Loops& wide_loops = loops_for(wide(spec.type), options);
  const std::int64_t blocks = blocks_of(spec.rows);
  const std::int64_t bytes = lay_out(nullptr, spec, blocks).bytes;
  return {bytes, [&loops, &wide_loops, spec, blocks, threads = options.threads](
                     View parameter, View master, View row, View column, View gradient, AdafactorStep step,
                     const Stream& stream) {
            const Scratch s = lay_out(stream.workspace, spec, blocks);
            const std::int64_t width = spec.columns;
            const auto each_row = [&](auto body) {
              parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
                for (std::int64_t r = first; r < last; ++r) body(r);
              });
            };
            const double t = static_cast<double>(step.t), clip = step.gradient_scale.now();
            const double decay = 1 - std::pow(t, -step.beta2_decay);

            // Rows by blocks, so that a block's gradients are still in the cache for its rows' sums.
            parallel_for(threads, blocks, [&](std::int64_t first, std::int64_t last, int) {
              for (std::int64_t b = first; b < last; ++b) {
                const std::int64_t begin = b * rows_per_block, end = std::min(begin + rows_per_block, spec.rows);
                loops.column_square_sums(at(s.partial, b * width), at(gradient, begin * width), end - begin, width);
                for (std::int64_t r = begin; spec.factored && r < end; ++r)
                  s.row_squares[r] = wide_loops.square_sum(at(gradient, r * width), width);
              }
            });
            loops.sum_partials(s.squares.data, s.partial.data, blocks, width, 0, width, false);
            loops.factor_roots(column.data, s.roots.data, s.squares.data, width, decay,
                               clip * clip / static_cast<double>(spec.rows), step.epsilon);
            each_row([&](std::int64_t r) {
              s.parameter_squares[r] = spec.master ? wide_loops.square_sum(at(master, r * width), width)
                                                   : loops.square_sum(at(parameter, r * width), width);
            });

            // s.sum becomes what each row's gradients are multiplied by beside the columns' roots: c·√(mean(R)/R).
            double mean = 1;
            if (spec.factored) {
              for (std::int64_t r = 0; r < spec.rows; ++r) {
                const double square = clip * clip * s.row_squares[r] / static_cast<double>(width) + step.epsilon;
                set_element(row, r, decay * element(row, r) + (1 - decay) * square);
                s.sum[r] = element(row, r);
              }
              mean = total(s.sum, spec.rows) / static_cast<double>(spec.rows);
            } else {
              s.sum[0] = 1;
            }
            each_row([&](std::int64_t r) {
              s.sum[r] = clip * std::sqrt(mean / s.sum[r]);
              s.row_squares[r] =
                  s.sum[r] * s.sum[r] * wide_loops.weighted_square_sum(at(gradient, r * width), s.roots.data, width);
            });

            const double elements = static_cast<double>(spec.rows * width);
            const double update_rms = std::sqrt(total(s.row_squares, spec.rows) / elements);
            const double parameter_rms = std::sqrt(total(s.parameter_squares, spec.rows) / elements);
            const double rate = std::max(step.epsilon2, parameter_rms) *
                                std::min(step.learning_rate, 1 / std::sqrt(t)) / std::max(1.0, update_rms / step.clip);
            each_row([&](std::int64_t r) {
              loops.weighted_descent(at(parameter, r * width), spec.master ? at_or_null(master, r * width) : nullptr,
                                     at(gradient, r * width), s.roots.data, width, rate * s.sum[r],
                                     step.learning_rate * step.weight_decay);
            });
          }};
}

}  // namespace rankscope::kernels::cpu
