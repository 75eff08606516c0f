// Causal attention of one head of one sample, 32 query rows at a time, so that only 32 × context scores exist at once
// and products stop at the last column visible to the block. Backward computes the probabilities again from the
// log-sum-exp (as in Dao et al. 2022, arXiv 2205.14135). Arithmetic is in A; the head's rows are copied to scratch,
// padded and if needed transposed, once per head.
#include "kernels/cpu/vector/product.hpp"
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

constexpr int64_t block_rows = 32;
static_assert(block_rows % tile_rows == 0);

RANKSCOPE_INLINE int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Sizes of the scratch matrices, in elements of A.
template <class A>
struct Sizes {
  int64_t rows;     ///< context, padded to complete blocks (and so to complete tiles)
  int64_t columns;  ///< context as a row of scores: padded to complete blocks and vectors
  int64_t depth;    ///< of a head, padded to complete vectors
  explicit Sizes(const HeadShape& shape)
      : rows(rounded_up(shape.context, block_rows)),
        columns(rounded_up(rows, lanes<A>)),
        depth(rounded_up(shape.depth, lanes<A>)) {}
  int64_t by_rows() const { return rows * depth; }
  int64_t transposed() const { return rounded_up(depth, tile_rows) * columns; }
  int64_t scores() const { return block_rows * columns; }
};

template <class A>
struct Scratch {
  A* next;
  A* take(int64_t elements) {
    A* taken = next;
    next += rounded_up(elements, 64 / static_cast<int64_t>(sizeof(A)));
    return taken;
  }
};

template <class T>
int64_t attention_scratch(const HeadShape& shape, bool backward) {
  using A = Scalar<T>;
  const Sizes<A> sizes(shape);
  const int64_t slack = 64 / static_cast<int64_t>(sizeof(A));
  const int64_t elements = backward
                               ? 2 * sizes.transposed() + 6 * sizes.by_rows() + 2 * sizes.scores() + block_rows
                               : sizes.transposed() + 2 * sizes.by_rows() + sizes.scores() + block_rows * sizes.depth;
  return (elements + 12 * slack) * static_cast<int64_t>(sizeof(A));
}

/// to[i][d] = factor·from[i][d], zero where padded.
template <class T>
void copy_rows(Scalar<T>* to, const T* from, const HeadShape& shape, int64_t stride, Scalar<T> factor) {
  using A = Scalar<T>;
  const Sizes<A> sizes(shape);
  for (int64_t i = 0; i < shape.context; ++i)
    sweep<T>(shape.depth, [&](int64_t d, auto part) {
      store(to + i * sizes.depth + d, load(from + i * stride + d, part) * factor, Whole{});
    });
  for (int64_t i = shape.context * sizes.depth; i < sizes.by_rows(); ++i) to[i] = 0;
}

/// to[d][i] = from[i][d] of scratch rows, zero where padded.
template <class A>
void transpose(A* to, const A* from, const HeadShape& shape) {
  const Sizes<A> sizes(shape);
  constexpr int w = lanes<A>;
  // A tile of one vector of rows at a time: reads run along rows, writes along the transposed rows.
  for (int64_t first = 0; first < sizes.columns; first += w) {
    const int64_t count = sizes.rows - first < w ? sizes.rows - first : w;
    for (int64_t d = 0; d < sizes.depth; ++d) {
      Vector<A> v = {};
      for (int64_t i = 0; i < count; ++i) v[i] = from[(first + i) * sizes.depth + d];
      store(to + d * sizes.columns + first, v, Whole{});
    }
  }
}

/// Query rows [first, first + count) of the sample attend to columns below `seen`, padded to `columns` in the scores.
struct Block {
  int64_t first, count, columns;
};
template <class A>
Block block_at(int64_t first, const HeadShape& shape) {
  const int64_t rest = shape.context - first;
  return {first, rest < block_rows ? rest : block_rows, rounded_up(first + block_rows, lanes<A>)};
}

/// A row of scores becomes exp(score - subtracted) for the first `seen` columns and zero for the rest; returns the sum.
template <class A>
A exponentials(A* row, int64_t seen, int64_t columns, A subtracted) {
  Vector<A> sum = {};
  int64_t j = 0;
  for (; j + lanes<A> <= seen; j += lanes<A>) {
    const Vector<A> e = exp_of(raw_load<Vector<A>>(row + j) - subtracted);
    sum += e;
    store(row + j, e, Whole{});
  }
  if (j < seen) {
    Vector<A> e = exp_of(raw_load<Vector<A>>(row + j) - subtracted);
    for (int64_t i = seen - j; i < lanes<A>; ++i) e[i] = 0;
    sum += e;
    store(row + j, e, Whole{});
    j += lanes<A>;
  }
  for (; j < columns; j += lanes<A>) store(row + j, Vector<A>{}, Whole{});
  return sum_of(sum);
}

template <class A>
A greatest(const A* row, int64_t seen) {
  A top = row[0];
  int64_t j = 0;
  if (seen >= lanes<A>) {
    Vector<A> tops = raw_load<Vector<A>>(row);
    for (j = lanes<A>; j + lanes<A> <= seen; j += lanes<A>) {
      const Vector<A> v = raw_load<Vector<A>>(row + j);
      tops = v > tops ? v : tops;
    }
    top = greatest_of(tops);
  }
  for (; j < seen; ++j) top = row[j] > top ? row[j] : top;
  return top;
}

template <class T>
void attention_forward(T* attended, Scalar<T>* log_sum_exp, const T* queries, const T* keys, const T* values,
                       const HeadShape& shape, Scalar<T>* memory) {
  using A = Scalar<T>;
  const Sizes<A> sizes(shape);
  Scratch<A> scratch{memory};
  A* k_transposed = scratch.take(sizes.transposed());
  A* q = scratch.take(sizes.by_rows());
  A* v = scratch.take(sizes.by_rows());  // contains k first
  A* scores = scratch.take(sizes.scores());
  A* out = scratch.take(block_rows * sizes.depth);

  copy_rows(v, keys, shape, shape.stride, A(1));
  transpose(k_transposed, v, shape);
  copy_rows(v, values, shape, shape.stride, A(1));
  const A root = static_cast<A>(1 / __builtin_sqrt(static_cast<double>(shape.depth)));
  copy_rows(q, queries, shape, shape.stride, root);

  for (int64_t first = 0; first < shape.context; first += block_rows) {
    const Block block = block_at<A>(first, shape);
    multiply<A>({scores, sizes.columns}, {q + first * sizes.depth, sizes.depth, 1}, {k_transposed, sizes.columns},
                block_rows, block.columns, shape.depth, false);
    A inverse[block_rows] = {};
    for (int64_t i = 0; i < block.count; ++i) {
      A* row = scores + i * sizes.columns;
      const int64_t seen = first + i + 1;
      const A top = greatest(row, seen);
      const A sum = exponentials(row, seen, block.columns, top);
      inverse[i] = 1 / sum;
      log_sum_exp[first + i] = top + static_cast<A>(__builtin_log(static_cast<double>(sum)));
    }
    const int64_t depth = first + block_rows < shape.context ? first + block_rows : shape.context;
    multiply<A>({out, sizes.depth}, {scores, sizes.columns, 1}, {v, sizes.depth}, block_rows, sizes.depth, depth,
                false);
    for (int64_t i = 0; i < block.count; ++i)
      sweep<T>(shape.depth, [&](int64_t d, auto part) {
        store(attended + (first + i) * shape.out_stride + d,
              raw_load<Vector<A>>(out + i * sizes.depth + d) * inverse[i], part);
      });
  }
}

/// to[i][d] = factor·from[i][d] of scratch rows.
template <class T>
void copy_out(T* to, const Scalar<T>* from, const HeadShape& shape, Scalar<T> factor) {
  const Sizes<Scalar<T>> sizes(shape);
  for (int64_t i = 0; i < shape.context; ++i)
    sweep<T>(shape.depth, [&](int64_t d, auto part) {
      store(to + i * shape.stride + d, raw_load<Vector<T>>(from + i * sizes.depth + d) * factor, part);
    });
}

/// P from the scores and the log-sum-exp, then dS = P∘(dP - rowsum(dO∘O)).
template <class T>
void attention_backward(T* dqueries, T* dkeys, T* dvalues, const T* dattended, const T* queries, const T* keys,
                        const T* values, const Scalar<T>* log_sum_exp, const T* attended, const HeadShape& shape,
                        Scalar<T>* memory) {
  using A = Scalar<T>;
  const Sizes<A> sizes(shape);
  Scratch<A> scratch{memory};
  A* k_transposed = scratch.take(sizes.transposed());
  A* v_transposed = scratch.take(sizes.transposed());
  A* q = scratch.take(sizes.by_rows());
  A* k = scratch.take(sizes.by_rows());
  A* dout = scratch.take(sizes.by_rows());
  A* dq = scratch.take(sizes.by_rows());
  A* dk = scratch.take(sizes.by_rows());
  A* dv = scratch.take(sizes.by_rows());
  A* scores = scratch.take(sizes.scores());
  A* dscores = scratch.take(sizes.scores());

  const A root = static_cast<A>(1 / __builtin_sqrt(static_cast<double>(shape.depth)));
  copy_rows(k, values, shape, shape.stride, A(1));
  transpose(v_transposed, k, shape);
  copy_rows(k, keys, shape, shape.stride, A(1));
  transpose(k_transposed, k, shape);
  copy_rows(q, queries, shape, shape.stride, root);
  copy_rows(dout, dattended, shape, shape.out_stride, A(1));
  for (int64_t i = 0; i < sizes.by_rows(); ++i) dk[i] = dv[i] = 0;

  for (int64_t first = 0; first < shape.context; first += block_rows) {
    const Block block = block_at<A>(first, shape);
    const int64_t depth = first + block_rows < shape.context ? first + block_rows : shape.context;
    multiply<A>({scores, sizes.columns}, {q + first * sizes.depth, sizes.depth, 1}, {k_transposed, sizes.columns},
                block_rows, block.columns, shape.depth, false);
    multiply<A>({dscores, sizes.columns}, {dout + first * sizes.depth, sizes.depth, 1}, {v_transposed, sizes.columns},
                block_rows, block.columns, shape.depth, false);
    for (int64_t i = 0; i < block_rows; ++i) {
      A* row = scores + i * sizes.columns;
      A* drow = dscores + i * sizes.columns;
      if (i >= block.count) {  // rows after the sample's end add nothing to any sum
        for (int64_t j = 0; j < block.columns; ++j) row[j] = drow[j] = 0;
        continue;
      }
      exponentials(row, first + i + 1, block.columns, log_sum_exp[first + i]);
      Vector<A> dots = {};
      sweep<T>(shape.depth, [&](int64_t d, auto part) {
        const int64_t at = (first + i) * shape.out_stride + d;
        dots += load(dattended + at, part) * load(attended + at, part);
      });
      const A dot = sum_of(dots);
      for (int64_t j = 0; j < block.columns; j += lanes<A>)
        store(drow + j, raw_load<Vector<A>>(row + j) * (raw_load<Vector<A>>(drow + j) - dot), Whole{});
    }
    const int64_t rows = rounded_up(depth, tile_rows);
    multiply<A>({dq + first * sizes.depth, sizes.depth}, {dscores, sizes.columns, 1}, {k, sizes.depth}, block_rows,
                sizes.depth, depth, false);
    multiply<A>({dv, sizes.depth}, {scores, 1, sizes.columns}, {dout + first * sizes.depth, sizes.depth}, rows,
                sizes.depth, block_rows, true);
    multiply<A>({dk, sizes.depth}, {dscores, 1, sizes.columns}, {q + first * sizes.depth, sizes.depth}, rows,
                sizes.depth, block_rows, true);
  }
  copy_out(dqueries, dq, shape, root);
  copy_out(dkeys, dk, shape, A(1));  // q contains the factor already
  copy_out(dvalues, dv, shape, A(1));
}

}  // namespace

template <class T>
void add_attention(Loops& loops) {
  set<attention_scratch<T>>(loops.attention_scratch);
  set<attention_forward<T>>(loops.attention_forward);
  set<attention_backward<T>>(loops.attention_backward);
}
RANKSCOPE_FOR_ALL_TYPES(add_attention)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
