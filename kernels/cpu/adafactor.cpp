// Adafactor: the second moments of a matrix from its row and column means.
#include <cmath>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/tensor/element.hpp"

namespace rankscope::kernels::cpu {
namespace {

/// Scratch for one tensor, in this order, each aligned.
struct Scratch {
  View partial, squares, roots;                   ///< of columns: [blocks, columns], [columns], [columns]
  double *row_squares, *parameter_squares, *sum;  ///< by row
  std::int64_t bytes;
};

Scratch lay_out(std::byte* base, DType wide_type, const FactoredShape& shape) {
  std::int64_t used = 0;
  const auto take = [&](std::int64_t bytes) {
    std::byte* at = base + used;
    used += aligned(bytes);
    return at;
  };
  const auto columns = [&](std::int64_t rows) {
    return View{take(rows * shape.columns * bytes_of(wide_type)), wide_type, {rows, shape.columns}};
  };
  const auto of_rows = [&] { return reinterpret_cast<double*>(take(shape.rows * bytes_of(DType::f64))); };
  Scratch s{};
  s.partial = columns(blocks_of(shape.rows));
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

/// One tensor's update.
class TensorUpdate {
 public:
  TensorUpdate(const UpdateOperand& operand, const Options& options)
      : o_(operand),
        shape_(operand.parameter.shape),
        column_(operand.states[shape_.factored ? 1 : 0]),
        wide_(wide(operand.parameter.type)),
        loops_(loops_for(operand.parameter.type, options)),
        wide_loops_(loops_for(wide_, options)),
        threads_(options.threads) {}

  std::int64_t workspace_bytes() const { return lay_out(nullptr, wide_, shape_).bytes; }

  void run(const AdafactorNumbers& numbers, double clip, std::byte* workspace) const {
    const Scratch s = lay_out(workspace, wide_, shape_);
    sum_squares(s);
    loops_.factor_roots(column_.data, s.roots.data, s.squares.data, shape_.columns,
                        clip * clip / static_cast<double>(shape_.rows), numbers);
    find_row_factors(s, numbers, clip);
    const double elements = static_cast<double>(shape_.rows * shape_.columns);
    const double rate = numbers.step_size(total(s.row_squares, shape_.rows) / elements,
                                          total(s.parameter_squares, shape_.rows) / elements);
    each_row([&](std::int64_t r) {
      const std::int64_t first = r * shape_.columns;
      loops_.weighted_descent(at(o_.parameter, first), at_or_null(o_.master, first), at(o_.gradient, first),
                              s.roots.data, shape_.columns, rate * s.sum[r], numbers);
    });
  }

 private:
  template <class Body>
  void each_row(Body body) const {
    parallel_for(threads_, shape_.rows, [&](std::int64_t first, std::int64_t last, int) {
      for (std::int64_t r = first; r < last; ++r) body(r);
    });
  }

  /// Sums gradients by column and by row, and the parameter by row.
  void sum_squares(const Scratch& s) const {
    const std::int64_t width = shape_.columns, blocks = blocks_of(shape_.rows);
    // Rows by blocks, so that a block's gradients are still in the cache for its rows' sums.
    parallel_each(threads_, blocks, [&](std::int64_t b) {
      const std::int64_t begin = b * rows_per_block, end = std::min(begin + rows_per_block, shape_.rows);
      loops_.column_square_sums(at(s.partial, b * width), at(o_.gradient, begin * width), end - begin, width);
      for (std::int64_t r = begin; shape_.factored && r < end; ++r)
        s.row_squares[r] = wide_loops_.square_sum(at(o_.gradient, r * width), width);
    });
    loops_.sum_partials(s.squares.data, s.partial.data, blocks, width, 0, width, false);
    each_row([&](std::int64_t r) {
      s.parameter_squares[r] = o_.master.data != nullptr ? wide_loops_.square_sum(at(o_.master, r * width), width)
                                                         : loops_.square_sum(at(o_.parameter, r * width), width);
    });
  }

  /// s.sum becomes the factor of each row's gradients in addition to the columns' roots, c·√(mean(R)/R), and
  /// s.row_squares the squares of the resulting updates.
  void find_row_factors(const Scratch& s, const AdafactorNumbers& numbers, double clip) const {
    double mean = 1;
    if (shape_.factored) {
      const View& row = o_.states[0];
      for (std::int64_t r = 0; r < shape_.rows; ++r) {
        const double mean_square = clip * clip * s.row_squares[r] / static_cast<double>(shape_.columns);
        set_element(row, r, numbers.row_moment(element(row, r), mean_square));
        s.sum[r] = element(row, r);
      }
      mean = total(s.sum, shape_.rows) / static_cast<double>(shape_.rows);
    } else {
      s.sum[0] = 1;
    }
    each_row([&](std::int64_t r) {
      s.sum[r] = clip * std::sqrt(mean / s.sum[r]);
      const double squares =
          wide_loops_.weighted_square_sum(at(o_.gradient, r * shape_.columns), s.roots.data, shape_.columns);
      s.row_squares[r] = s.sum[r] * s.sum[r] * squares;
    });
  }

  UpdateOperand o_;
  FactoredShape shape_;
  View column_;  ///< the columns' moments
  DType wide_;
  const Loops &loops_, &wide_loops_;
  int threads_;
};

}  // namespace

Prepared<UpdateStep> adafactor_update(const UpdateSpec& spec, const Options& options) {
  std::vector<TensorUpdate> updates;
  std::int64_t bytes = 0;
  for (const UpdateOperand& operand : spec.tensors)
    bytes = std::max(bytes, updates.emplace_back(operand, options).workspace_bytes());
  return {bytes, [spec, updates](UpdateStep step, const Stream& stream) {
            const double clip = step.gradient_scale.now(), decay = step.weight_decay;
            for (std::size_t i = 0; i < updates.size(); ++i) {
              step.weight_decay = spec.tensors[i].decays ? decay : 0;
              updates[i].run(AdafactorNumbers(step), clip, stream.workspace);
            }
          }};
}

}  // namespace rankscope::kernels::cpu
