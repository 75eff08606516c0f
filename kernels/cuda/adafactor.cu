// Adafactor: the second moments of a matrix from its row and column means. Seven launches for any number of tensors,
// three of which read all gradients: a step's size depends on all of them.
#include <memory>

#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/tensor_table.cuh"
#include "kernels/cuda/update.cuh"

namespace rankscope::kernels::cuda {
namespace {

constexpr int threads = 256;

/// A tensor with the offsets of its data in a launch's scratch memory, in bytes from its begin: of columns (A), of rows
/// and one number (double).
struct FactoredTensor {
  void *parameter, *master;
  const void* gradient;
  void *row, *column;  ///< moments; `row` is null if not factored
  int64_t rows, width;
  bool decays, packed;    ///< its rows are a multiple of the gradient type's packs
  int64_t column_groups;  ///< of columns that a block processes at a time
  int64_t partial, roots, row_squares, parameter_squares, factor, rate;

  /// Uses the scratch from `used` on, and advances `used`.
  template <class A>
  void lay_out(int64_t& used) {
    const auto take = [&](int64_t bytes) {
      const int64_t at = used;
      used += aligned(bytes);
      return at;
    };
    const auto numbers = [&](int64_t n) { return take(n * static_cast<int64_t>(sizeof(double))); };
    partial = take(column_workspace<A>(rows, width, 1));
    roots = take(width * static_cast<int64_t>(sizeof(A)));
    row_squares = numbers(rows);
    parameter_squares = numbers(rows);
    factor = numbers(rows);
    rate = numbers(1);
  }
  template <class N>
  __device__ static N* at(std::byte* scratch, int64_t place) {
    return reinterpret_cast<N*>(scratch + place);
  }
};

using Tensors = TensorTable<FactoredTensor>;

template <class T>
FactoredTensor tensor_of(const UpdateOperand& o) {
  const FactoredShape shape(o.parameter.shape);
  FactoredTensor tensor{};
  tensor.parameter = o.parameter.data;
  tensor.master = o.master.data;
  tensor.gradient = o.gradient.data;
  tensor.row = shape.factored ? o.states[0].data : nullptr;
  tensor.column = o.states[shape.factored ? 1 : 0].data;
  tensor.rows = shape.rows;
  tensor.width = shape.columns;
  tensor.decays = o.decays;
  tensor.packed = rows_are_packs(shape.columns, pack<Arithmetic<T>>, 16, {o.gradient.data, o.master.data}) &&
                  rows_are_packs(0, 1, pack<Arithmetic<T>> * sizeof(T), {o.parameter.data});
  tensor.column_groups = pieces_of(shape.columns, column_lanes * (tensor.packed ? pack<Arithmetic<T>> : 1));
  return tensor;
}

/// The data shared by all passes of a step.
struct Numbers : AdafactorNumbers {
  Factor clip;  ///< of the gradients
  explicit Numbers(const UpdateStep& step) : AdafactorNumbers(step), clip(step.gradient_scale) {}
  __device__ double coefficient() const { return clip.at != nullptr ? clip.value * *clip.at : clip.value; }
};

template <class T>
__device__ inline double square(T x) {
  const auto wide = static_cast<double>(widen(x));
  return wide * wide;
}

template <class T>
__device__ inline double row_square_sum(const T* row, int64_t width) {
  double sum = 0;
  for (int64_t j = threadIdx.x; j < width; j += threads) sum += square(row[j]);
  return block_sum(sum);
}

/// A block for each row: the sums of its squares.
template <class T>
__global__ void __launch_bounds__(threads) square_rows(std::byte* scratch, const __grid_constant__ Tensors tensors) {
  using A = Arithmetic<T>;
  int64_t row = blockIdx.x;
  const FactoredTensor t = tensors.find(row);
  const int64_t first = row * t.width;
  const double of_gradient = row_square_sum(static_cast<const A*>(t.gradient) + first, t.width);
  const double of_parameter = t.master != nullptr ? row_square_sum(static_cast<const A*>(t.master) + first, t.width)
                                                  : row_square_sum(static_cast<const T*>(t.parameter) + first, t.width);
  if (threadIdx.x != 0) return;
  t.at<double>(scratch, t.row_squares)[row] = of_gradient;
  t.at<double>(scratch, t.parameter_squares)[row] = of_parameter;
}

template <class A, int V>
__device__ inline void square_column_group(const FactoredTensor& t, A* partial, int64_t rows_block, int64_t group) {
  const int64_t column = (group * column_lanes + threadIdx.x) * V;
  const int64_t first = rows_block * rows_per_partial, last = lesser<int64_t>(t.rows, first + rows_per_partial);
  A sums[V] = {}, value[V];
  if (column < t.width)
    for (int64_t row = first + threadIdx.y; row < last; row += column_rows) {
      load<V>(value, static_cast<const A*>(t.gradient) + row * t.width + column);
#pragma unroll
      for (int v = 0; v < V; ++v) sums[v] += value[v] * value[v];
    }
  over_rows<column_rows>(sums);
  if (threadIdx.y == 0 && column < t.width) store(partial + rows_block * t.width + column, sums);
}

/// partial[rows' block][column] = sum of the squares of 64 rows.
template <class A>
__global__ void __launch_bounds__(column_lanes* column_rows)
    square_columns(std::byte* scratch, const __grid_constant__ Tensors tensors) {
  int64_t block = blockIdx.x;
  const FactoredTensor t = tensors.find(block);
  A* const partial = t.at<A>(scratch, t.partial);
  if (t.packed)
    square_column_group<A, pack<A>>(t, partial, block / t.column_groups, block % t.column_groups);
  else
    square_column_group<A, 1>(t, partial, block / t.column_groups, block % t.column_groups);
}

/// Columns' moments from the sum of square_columns' results; roots = 1/√moment.
template <class A>
__global__ void __launch_bounds__(column_lanes* partial_rows)
    factor_columns(std::byte* scratch, const __grid_constant__ Tensors tensors, const __grid_constant__ Numbers n) {
  int64_t group = blockIdx.x;
  const FactoredTensor t = tensors.find(group);
  const A* const partial = t.at<A>(scratch, t.partial);
  const int64_t column = group * column_lanes + threadIdx.x;
  const int64_t blocks = (t.rows + rows_per_partial - 1) / rows_per_partial;
  A sum[1] = {};
  if (column < t.width)
    for (int64_t b = threadIdx.y; b < blocks; b += partial_rows) sum[0] += partial[b * t.width + column];
  over_rows<partial_rows>(sum);
  if (threadIdx.y != 0 || column >= t.width) return;
  const double c = n.coefficient();
  A& moment = static_cast<A*>(t.column)[column];
  moment = Adafactor<Math<A>>(n).column_moment(moment, static_cast<A>(c * c / static_cast<double>(t.rows)), sum[0]);
  t.at<A>(scratch, t.roots)[column] = 1 / root_of(moment);
}

/// A block for each tensor: rows' moments, and the factor of each row's gradients in addition to the columns' roots,
/// c·√(mean(R)/R). If not factored, that is c.
template <class A>
__global__ void __launch_bounds__(reducers)
    factor_rows(std::byte* scratch, const __grid_constant__ Tensors tensors, const __grid_constant__ Numbers n) {
  int64_t block = blockIdx.x;
  const FactoredTensor t = tensors.find(block);
  auto* const moment = static_cast<A*>(t.row);
  double* const factor = t.at<double>(scratch, t.factor);
  const double* const row_squares = t.at<double>(scratch, t.row_squares);
  const double c = n.coefficient();
  double sum = 0;
  for (int64_t r = threadIdx.x; r < t.rows; r += reducers) {
    if (moment == nullptr) {
      factor[r] = 1;
    } else {
      const double mean_square = c * c * row_squares[r] / static_cast<double>(t.width);
      moment[r] = static_cast<A>(n.row_moment(static_cast<double>(moment[r]), mean_square));
      factor[r] = static_cast<double>(moment[r]);
    }
    sum += factor[r];
  }
  const double mean = block_sum(sum) / static_cast<double>(t.rows);
  for (int64_t r = threadIdx.x; r < t.rows; r += reducers) factor[r] = c * sqrt(mean / factor[r]);
}

/// A block for each row: the sum of the squares of its update before scaling.
template <class A>
__global__ void __launch_bounds__(threads) square_updates(std::byte* scratch, const __grid_constant__ Tensors tensors) {
  int64_t row = blockIdx.x;
  const FactoredTensor t = tensors.find(row);
  const A* const gradient = static_cast<const A*>(t.gradient) + row * t.width;
  const A* const roots = t.at<A>(scratch, t.roots);
  double sum = 0;
  for (int64_t j = threadIdx.x; j < t.width; j += threads) sum += square(gradient[j] * roots[j]);
  sum = block_sum(sum);
  const double factor = t.at<double>(scratch, t.factor)[row];
  if (threadIdx.x == 0) t.at<double>(scratch, t.row_squares)[row] = factor * factor * sum;
}

/// A block for each tensor: its step's size.
__global__ void __launch_bounds__(reducers)
    choose_rate(std::byte* scratch, const __grid_constant__ Tensors tensors, const __grid_constant__ Numbers n) {
  int64_t block = blockIdx.x;
  const FactoredTensor t = tensors.find(block);
  const double* const update_squares = t.at<double>(scratch, t.row_squares);
  const double* const parameter_squares = t.at<double>(scratch, t.parameter_squares);
  double of_updates = 0, of_parameters = 0;
  for (int64_t r = threadIdx.x; r < t.rows; r += reducers) {
    of_updates += update_squares[r];
    of_parameters += parameter_squares[r];
  }
  of_updates = block_sum(of_updates);
  of_parameters = block_sum(of_parameters);
  const auto elements = static_cast<double>(t.rows * t.width);
  if (threadIdx.x == 0) *t.at<double>(scratch, t.rate) = n.step_size(of_updates / elements, of_parameters / elements);
}

/// Through the master if there is one.
template <int V, class T>
__device__ inline void descend_neighbours(const FactoredTensor& t, std::byte* scratch, int64_t first,
                                          const Adafactor<Math<Arithmetic<T>>>& rule) {
  using A = Arithmetic<T>;
  auto* parameter = static_cast<T*>(t.parameter);
  auto* master = static_cast<A*>(t.master);
  const A* const roots = t.at<A>(scratch, t.roots);
  const double* const factor = t.at<double>(scratch, t.factor);
  const double rate = *t.at<double>(scratch, t.rate);
  A p[V], g[V];
  if (master != nullptr)
    load<V>(p, static_cast<const A*>(master) + first);
  else
    load<V>(p, static_cast<const T*>(parameter) + first);
  load<V>(g, static_cast<const A*>(t.gradient) + first);
#pragma unroll
  for (int v = 0; v < V; ++v) {
    const int64_t row = (first + v) / t.width, column = (first + v) % t.width;
    p[v] = rule.next(p[v], g[v], static_cast<A>(rate * factor[row]), roots[column]);
  }
  if (master != nullptr) store(master + first, p);
  store(parameter + first, p);
}

template <class T>
__global__ void __launch_bounds__(threads)
    descend(std::byte* scratch, const __grid_constant__ Tensors tensors, const __grid_constant__ Numbers n) {
  using A = Arithmetic<T>;
  int64_t block = blockIdx.x;
  const FactoredTensor t = tensors.find(block);
  Adafactor<Math<A>> rule(n);
  if (!t.decays) rule.decay = 0;
  const int64_t place = block * threads + threadIdx.x;
  if (t.packed) {  // rows are a multiple of packs: no pack is partial
    if (place * pack<A> < t.rows * t.width) descend_neighbours<pack<A>, T>(t, scratch, place * pack<A>, rule);
  } else if (place < t.rows * t.width) {
    descend_neighbours<1, T>(t, scratch, place, rule);
  }
}

/// How the blocks of a pass are distributed.
enum class Pass { rows, columns, column_sums, tensors, elements };
constexpr int passes = 5;

template <class T>
int64_t blocks_of(const FactoredTensor& t, Pass pass) {
  using A = Arithmetic<T>;
  if (t.rows * t.width == 0) return 0;
  switch (pass) {
    case Pass::rows: return t.rows;
    case Pass::columns: return pieces_of(t.rows, rows_per_partial) * t.column_groups;
    case Pass::column_sums: return pieces_of(t.width, column_lanes);
    case Pass::tensors: return 1;
    case Pass::elements: return pieces_of(t.rows * t.width, threads * (t.packed ? pack<A> : 1));
  }
  return 0;
}

template <class T>
struct FactoredTensors {
  std::vector<std::shared_ptr<const WrittenTable<FactoredTensor>>> by_pass;

  void update(const UpdateStep& step, const Stream& stream) const {
    using A = Arithmetic<T>;
    const Numbers numbers(step);
    const auto pass = [&](Pass which, auto kernel, dim3 block, const auto&... also) {
      const auto& table = *by_pass[static_cast<std::size_t>(which)];
      launch(kernel, {grid_of(table.blocks()), block}, stream, stream.workspace, table.table(), also...);
    };
    pass(Pass::rows, square_rows<T>, dim3(threads));
    pass(Pass::columns, square_columns<A>, dim3(column_lanes, column_rows));
    pass(Pass::column_sums, factor_columns<A>, dim3(column_lanes, partial_rows), numbers);
    pass(Pass::tensors, factor_rows<A>, dim3(reducers), numbers);
    pass(Pass::rows, square_updates<A>, dim3(threads));
    pass(Pass::tensors, choose_rate, dim3(reducers), numbers);
    pass(Pass::elements, descend<T>, dim3(threads), numbers);
  }
};

}  // namespace

Prepared<UpdateStep> adafactor_update(const UpdateSpec& spec) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<UpdateStep> {
    std::vector<FactoredTensor> tensors;
    int64_t bytes = 0;
    for (const UpdateOperand& o : spec.tensors) {
      tensors.push_back(tensor_of<T>(o));
      tensors.back().template lay_out<Arithmetic<T>>(bytes);
    }
    FactoredTensors<T> all;
    for (int pass = 0; pass < passes; ++pass) {
      std::vector<int64_t> blocks;
      for (const FactoredTensor& tensor : tensors) blocks.push_back(blocks_of<T>(tensor, static_cast<Pass>(pass)));
      all.by_pass.push_back(std::make_shared<const WrittenTable<FactoredTensor>>(tensors, blocks));
    }
    return {bytes, [all](const UpdateStep& step, const Stream& stream) { all.update(step, stream); }};
  });
}

}  // namespace rankscope::kernels::cuda
