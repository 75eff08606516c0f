// Adafactor (Shazeer and Stern 2018, arXiv 1804.04235, algorithms 4 and 5): the second moments of a matrix from its row
// and column means. Seven launches, three of which read all gradients: a step's size depends on all of them.
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/update_numbers.hpp"

namespace rankscope::kernels::cuda {
namespace {

constexpr int threads = 256;

/// Scratch of one launch, in this order, each aligned.
template <class A>
struct Scratch {
  A *partial, *squares, *roots;                             ///< of columns; what sum_columns needs comes first
  double *row_squares, *parameter_squares, *factor, *rate;  ///< by row, and one number
  int64_t bytes;
};

template <class A>
Scratch<A> lay_out(std::byte* base, const AdafactorSpec& spec) {
  int64_t used = 0;
  const auto take = [&](int64_t bytes) {
    std::byte* at = base + used;
    used += aligned(bytes);
    return at;
  };
  const auto row = [&] { return reinterpret_cast<A*>(take(spec.columns * static_cast<int64_t>(sizeof(A)))); };
  const auto numbers = [&](int64_t n) {
    return reinterpret_cast<double*>(take(n * static_cast<int64_t>(sizeof(double))));
  };
  Scratch<A> s{};
  s.partial = reinterpret_cast<A*>(take(column_workspace<A>(spec.rows, spec.columns, 1)));
  s.squares = row();
  s.roots = row();
  s.row_squares = numbers(spec.rows);
  s.parameter_squares = numbers(spec.rows);
  s.factor = numbers(spec.rows);
  s.rate = numbers(1);
  s.bytes = used;
  return s;
}

/// Of the gradients of a column.
template <class A>
struct SquareSum {
  static constexpr int terms = 1;
  const A* gradient;
  int64_t width;
  template <int V>
  __device__ void add(A (&sums)[terms][V], int64_t row, int64_t column) const {
    A value[V];
    load<V>(value, gradient + row * width + column);
#pragma unroll
    for (int v = 0; v < V; ++v) sums[0][v] += value[v] * value[v];
  }
};

template <class T>
__device__ inline double square(T x) {
  const auto wide = static_cast<double>(widen(x));
  return wide * wide;
}

/// A block for each row: the sums of its squares.
template <class A, class P>
__global__ void __launch_bounds__(threads)
    square_rows(double* row_squares, double* parameter_squares, const A* gradient, const P* parameter, int64_t width) {
  const int64_t row = blockIdx.x;
  double of_gradient = 0, of_parameter = 0;
  for (int64_t j = threadIdx.x; j < width; j += threads) {
    of_gradient += square(gradient[row * width + j]);
    of_parameter += square(parameter[row * width + j]);
  }
  of_gradient = block_sum(of_gradient);
  of_parameter = block_sum(of_parameter);
  if (threadIdx.x != 0) return;
  row_squares[row] = of_gradient;
  parameter_squares[row] = of_parameter;
}

/// The numbers of a step that all passes share.
struct Numbers {
  const double* clip_at;  ///< in the device's memory; null: `clip` is all of it
  double decay, clip, epsilon, epsilon2, greatest_update, learning_rate, least_rate;
  explicit Numbers(const AdafactorStep& step)
      : clip_at(common_numbers(step).gradient_scale_at),
        decay(1 - std::pow(static_cast<double>(step.t), -step.beta2_decay)),
        clip(common_numbers(step).gradient_scale),
        epsilon(step.epsilon),
        epsilon2(step.epsilon2),
        greatest_update(step.clip),
        learning_rate(step.learning_rate),
        least_rate(std::min(step.learning_rate, 1 / std::sqrt(static_cast<double>(step.t)))) {}
  /// What gradients are multiplied by.
  __device__ double coefficient() const { return clip_at != nullptr ? clip * *clip_at : clip; }
};

/// moment = decay·moment + (1 - decay)·(c²·squares/rows + epsilon); roots = 1/√moment.
template <class A>
struct FactorRoots {
  A *moment, *roots;
  const A* squares;
  Numbers numbers;
  double rows;
  template <int V>
  __device__ void apply(int64_t j) const {
    const double c = numbers.coefficient();
    const A factor = static_cast<A>(c * c / rows), epsilon = static_cast<A>(numbers.epsilon);
    const A kept = static_cast<A>(numbers.decay), rest = static_cast<A>(1 - numbers.decay);
    A next[V], sum[V];
    load<V>(next, static_cast<const A*>(moment) + j);
    load<V>(sum, squares + j);
#pragma unroll
    for (int v = 0; v < V; ++v) next[v] = fused(kept, next[v], rest * fused(factor, sum[v], epsilon));
    store(moment + j, next);
#pragma unroll
    for (int v = 0; v < V; ++v) next[v] = 1 / root_of(next[v]);
    store(roots + j, next);
  }
};

/// One block: rows' moments, and what each row's gradients are multiplied by beside the columns' roots,
/// c·√(mean(R)/R). Not factored, `moment` is null and that is c.
template <class A>
__global__ void __launch_bounds__(reducers)
    factor_rows(A* moment, double* factor, const double* row_squares, int64_t rows, int64_t width, const Numbers n) {
  const double c = n.coefficient();
  double sum = 0;
  for (int64_t r = threadIdx.x; r < rows; r += reducers) {
    if (moment == nullptr) {
      factor[r] = 1;
    } else {
      const double mean = c * c * row_squares[r] / static_cast<double>(width) + n.epsilon;
      moment[r] = static_cast<A>(n.decay * static_cast<double>(moment[r]) + (1 - n.decay) * mean);
      factor[r] = static_cast<double>(moment[r]);
    }
    sum += factor[r];
  }
  const double mean = block_sum(sum) / static_cast<double>(rows);
  for (int64_t r = threadIdx.x; r < rows; r += reducers) factor[r] = c * sqrt(mean / factor[r]);
}

/// A block for each row: the sum of the squares of its update, before that is scaled.
template <class A>
__global__ void __launch_bounds__(threads)
    square_updates(double* row_squares, const double* factor, const A* gradient, const A* roots, int64_t width) {
  const int64_t row = blockIdx.x;
  double sum = 0;
  for (int64_t j = threadIdx.x; j < width; j += threads) sum += square(gradient[row * width + j] * roots[j]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) row_squares[row] = factor[row] * factor[row] * sum;
}

/// One block: the step's size.
__global__ void __launch_bounds__(reducers)
    choose_rate(double* rate, const double* update_squares, const double* parameter_squares, int64_t rows,
                double elements, const Numbers n) {
  double of_updates = 0, of_parameters = 0;
  for (int64_t r = threadIdx.x; r < rows; r += reducers) {
    of_updates += update_squares[r];
    of_parameters += parameter_squares[r];
  }
  of_updates = block_sum(of_updates);
  of_parameters = block_sum(of_parameters);
  if (threadIdx.x == 0)
    *rate = greater(n.epsilon2, sqrt(of_parameters / elements)) * n.least_rate /
            greater(1.0, sqrt(of_updates / elements) / n.greatest_update);
}

/// parameter -= decay·parameter + rate·factor[row]·gradient·roots, through the master if there is one.
template <class T>
struct Descend {
  using A = Arithmetic<T>;
  T* parameter;
  A* master;
  const A *gradient, *roots;
  const double *rate, *factor;
  A decay;
  int64_t width;
  template <int V>
  __device__ void apply(int64_t first) const {
    A p[V], g[V];
    if (master != nullptr)
      load<V>(p, static_cast<const A*>(master) + first);
    else
      load<V>(p, static_cast<const T*>(parameter) + first);
    load<V>(g, gradient + first);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const int64_t row = (first + v) / width, column = (first + v) % width;
      const A f = static_cast<A>(*rate * factor[row]);
      p[v] = p[v] - fused(decay, p[v], f * (g[v] * roots[column]));
    }
    if (master != nullptr) store(master + first, p);
    store(parameter + first, p);
  }
};

template <class T>
void update(const AdafactorSpec& spec, View parameter, View master, View row, View column, View gradient_view,
            const AdafactorStep& step, const Stream& stream) {
  using A = Arithmetic<T>;
  const Scratch<A> s = lay_out<A>(stream.workspace, spec);
  const Numbers numbers(step);
  const int64_t rows = spec.rows, width = spec.columns;
  const auto* gradient = static_cast<const A*>(gradient_view.data);
  auto* held = spec.master ? static_cast<A*>(master.data) : nullptr;

  const auto square_all = [&](const auto* parameters) {
    using P = std::remove_const_t<std::remove_pointer_t<decltype(parameters)>>;
    launch(square_rows<A, P>, {grid_of(rows), dim3(threads)}, stream, s.row_squares, s.parameter_squares, gradient,
           parameters, width);
  };
  if (held != nullptr)
    square_all(static_cast<const A*>(held));
  else
    square_all(static_cast<const T*>(parameter.data));
  sum_columns<A>(ColumnSums<A, 1>{{s.squares}, {false}}, rows, width, rows_are_packs(width, pack<A>, 16, {gradient}),
                 SquareSum<A>{gradient, width}, stream);
  const FactorRoots<A> roots{static_cast<A*>(column.data), s.roots, s.squares, numbers, static_cast<double>(rows)};
  for_each_element<A>(width, {column.data, s.roots, s.squares}, roots, stream);
  launch(factor_rows<A>, {grid_of(1), dim3(reducers)}, stream, spec.factored ? static_cast<A*>(row.data) : nullptr,
         s.factor, s.row_squares, rows, width, numbers);
  launch(square_updates<A>, {grid_of(rows), dim3(threads)}, stream, s.row_squares, s.factor, gradient, s.roots, width);
  launch(choose_rate, {grid_of(1), dim3(reducers)}, stream, s.rate, s.row_squares, s.parameter_squares, rows,
         static_cast<double>(rows * width), numbers);
  const Descend<T> descend{static_cast<T*>(parameter.data),
                           held,
                           gradient,
                           s.roots,
                           s.rate,
                           s.factor,
                           static_cast<A>(step.learning_rate * step.weight_decay),
                           width};
  for_each_element<T>(rows * width, {parameter.data, held, gradient}, descend, stream);
}

}  // namespace

Prepared<View, View, View, View, View, AdafactorStep> adafactor_update(const AdafactorSpec& spec, const Options&) {
  if (!spec.factored && spec.rows != 1)
    throw Unsupported("the kernel set 'cuda' has no adafactor_update that is not factored of more than one row");
  return with_type(spec.type, [&](auto tag) -> Prepared<View, View, View, View, View, AdafactorStep> {
    using T = typename decltype(tag)::type;
    return {lay_out<Arithmetic<T>>(nullptr, spec).bytes,
            [spec](View parameter, View master, View row, View column, View gradient, AdafactorStep step,
                   const Stream& stream) { update<T>(spec, parameter, master, row, column, gradient, step, stream); }};
  });
}

}  // namespace rankscope::kernels::cuda
