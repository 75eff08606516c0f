// The inner loops of the CPU's ops: written once in vector/, compiled for several instruction sets, selected once.
// Internal to kernels/cpu. They do not use threads; the ops' files divide the work.
//
// T is the element type (double, float, Bf16, F16); A, the arithmetic type, is double for double and float for the
// others.
#pragma once
#include <cstdint>

#include "kernels/kernel_set.hpp"
#include "kernels/update_rules.hpp"

namespace rankscope::kernels::cpu {

using std::int64_t;

/// bfloat16 in memory: the upper half of an fp32.
struct Bf16 {
  std::uint16_t bits;
};

/// IEEE 754's binary16 in memory.
struct F16 {
  std::uint16_t bits;
};

struct DropoutRow {
  std::uint64_t key = 0, stream = 0;
  std::uint64_t first_block = 0;  ///< of four words
  std::uint64_t threshold = 0;    ///< words below it are dropped
  double factor = 1;
};

/// The input of one head of one sample. Rows of q, k, v and their gradients are `stride` elements apart; rows of
/// `attended` and its gradient `out_stride`.
struct HeadShape {
  int64_t context = 0, depth = 0, stride = 0, out_stride = 0;
};

/// The data that an update reads and writes for a range of one parameter (T): master, gradient and states are A; master
/// is null if the parameter has none. If the first two states are bytes, the others are their scales (A), one per
/// block, and the range begins with a block.
struct UpdateStretch {
  void *parameter = nullptr, *master = nullptr;
  const void* gradient = nullptr;
  void* state[4] = {};
};

/// For a batch norm whose rows are divided into blocks.
struct BatchShape {
  int64_t rows = 0, channels = 0, rows_per_block = 0;
  double epsilon = 0;
};
/// One number per channel: mean and rstd are A, weight T.
struct BatchOperands {
  const void *mean = nullptr, *rstd = nullptr, *weight = nullptr;
};

/// Vectors in a grid, like pixels' channels: strides in elements.
struct VectorGrid {
  const void* first = nullptr;
  int64_t rows = 0, columns = 0;
  int64_t row_stride = 0, column_stride = 0;
};

/// Loops for one element type. Pointers are to T unless stated otherwise.
struct Loops {
  void (*add)(void* y, const void* a, const void* b, int64_t n);
  void (*scale)(void* x, double factor, int64_t n);
  double (*square_sum)(const void* x, int64_t n);
  /// y[r][j] += bias[j].
  void (*add_bias)(void* y, const void* bias, int64_t rows, int64_t width);
  /// sums[j] (A) = sum over rows of x[r][j].
  void (*column_sums)(void* sums, const void* x, int64_t rows, int64_t width);
  /// y[j] (A) = or += sum over blocks of partial[block][j] (A, rows `width` apart) for j in [first, last).
  void (*sum_partials)(void* y, const void* partial, int64_t blocks, int64_t width, int64_t first, int64_t last,
                       bool accumulate);

  void (*gelu_forward)(void* y, const void* x, int64_t n);
  /// dx = dy·gelu'(x).
  void (*gelu_slope)(void* dx, const void* dy, const void* x, int64_t n);

  /// y = silu(gate)·up.
  void (*swiglu_forward)(void* y, const void* gate, const void* up, int64_t n);
  void (*swiglu_backward)(void* dgate, void* dup, const void* dy, const void* gate, const void* up, int64_t n);

  /// y [2·half] = the sum of `count` vectors x, `stride` apart, with its pairs turned: cosine and sine [half] are A.
  /// Turned back if `back`; not turned if cosine is null.
  void (*rotate_head)(void* y, const void* x, int64_t count, int64_t stride, const void* cosine, const void* sine,
                      int64_t half, bool back);

  /// One row at a time; mean and rstd are A. Without mean it is RMS norm, which has no bias.
  void (*norm_forward)(void* y, void* mean, void* rstd, const void* x, const void* weight, const void* bias,
                       int64_t rows, int64_t width, double epsilon);
  /// dweight and dbias (A) are written: sums over these rows. residual may be null.
  void (*norm_backward)(void* dx, void* dweight, void* dbias, const void* dy, const void* x, const void* mean,
                        const void* rstd, const void* weight, const void* residual, int64_t rows, int64_t width);

  /// gradient = scale·(softmax - one_hot); logits are T, or A if `wide`. Returns -log softmax[target].
  double (*cross_entropy_row)(void* gradient, const void* logits, int64_t vocabulary, int64_t target, double scale,
                              bool wide);

  /// numerators[j] = exp(logits[j] - the greatest of the first `valid` logits) for those, else 0; logits are T, or A if
  /// `wide`. Returns the greatest (-inf if none) and the sum of the numerators before they are rounded.
  void (*numerators_row)(void* numerators, const void* logits, int64_t columns, int64_t valid, double* greatest,
                         double* sum, bool wide);

  /// y[row] = token row + position row.
  void (*embed_row)(void* y, const void* token_row, const void* position_row, int64_t width);
  /// sum[j] (A) += x[j].
  void (*accumulate)(void* sum, const void* x, int64_t n);

  /// y = dropped x, plus residual if not null, of one row.
  void (*dropout_row)(void* y, const void* x, const void* residual, int64_t width, const DropoutRow& draw);

  /// y = residual + dropped (x + bias), of one row; no dropout if `draw` is null.
  void (*residual_row)(void* y, const void* x, const void* bias, const void* residual, int64_t width,
                       const DropoutRow* draw);

  /// Scratch bytes of one head, forward and backward.
  int64_t (*attention_scratch)(const HeadShape& shape, bool backward);
  void (*attention_forward)(void* attended, void* log_sum_exp, const void* q, const void* k, const void* v,
                            const HeadShape& shape, void* scratch);
  void (*attention_backward)(void* dq, void* dk, void* dv, const void* dattended, const void* q, const void* k,
                             const void* v, const void* log_sum_exp, const void* attended, const HeadShape& shape,
                             void* scratch);

  /// For rules that update each element independently.
  void (*update)(UpdateRule rule, const UpdateStretch& stretch, int64_t n, const UpdateStep& step);
  /// AdamW with states of bytes.
  void (*adam8bit)(const UpdateStretch& stretch, int64_t n, const UpdateStep& step);
  /// One block of at most 256 (A): codes of x, and their common scale (A); and the inverse. Signed codes are those of
  /// first moments, unsigned ones of second moments.
  void (*quantise)(std::uint8_t* codes, void* scale, const void* x, int64_t n, bool is_signed);
  void (*dequantise)(void* x, const std::uint8_t* codes, const void* scale, int64_t n, bool is_signed);

  /// The passes of LARS and LAMB: squares[0] = sum of the parameter's squares, squares[1] = that of the values measured
  /// by the rule; then the step, multiplied by the ratio.
  void (*trust_measure)(UpdateRule rule, const UpdateStretch& stretch, int64_t n, const UpdateStep& step,
                        double* squares);
  void (*trust_descent)(UpdateRule rule, const UpdateStretch& stretch, int64_t n, const UpdateStep& step, double ratio);

  /// Adafactor's passes; all but the parameter are A. sums[j] = sum over rows of x[r][j]².
  void (*column_square_sums)(void* sums, const void* x, int64_t rows, int64_t width);
  /// The columns' moments, from sums of squares; `factor` converts these to means; roots = 1/sqrt(moment).
  void (*factor_roots)(void* moment, void* roots, const void* squares, int64_t n, double factor,
                       const AdafactorNumbers& numbers);
  /// Sum of (x·weight)².
  double (*weighted_square_sum)(const void* x, const void* weight, int64_t n);
  /// The parameter's step by factor·gradient·root, through the master if there is one.
  void (*weighted_descent)(void* parameter, void* master, const void* gradient, const void* root, int64_t n,
                           double factor, const AdafactorNumbers& numbers);

  /// Batch norm's passes over x [rows, channels]. Statistics of only these rows (A): their means, and the sums of
  /// squared differences from those.
  void (*channel_statistics)(void* means, void* squares, const void* x, int64_t rows, int64_t channels);
  /// mean and rstd (A) of channels [first, last), of all rows, from those of blocks of `rows_per_block`.
  void (*combine_statistics)(void* mean, void* rstd, const void* means, const void* squares, const BatchShape& shape,
                             int64_t first, int64_t last);
  /// y = (x - mean)·rstd·weight + bias, plus residual if not null, and clamped at zero if `relu`.
  void (*batch_norm_forward)(void* y, const void* x, const BatchOperands& operands, const void* bias,
                             const void* residual, int64_t rows, int64_t channels, bool relu);
  /// dweight and dbias (A) are written: sums over these rows. y may be null (no ReLU).
  void (*batch_norm_sums)(void* dweight, void* dbias, const void* dy, const void* y, const void* x,
                          const BatchOperands& operands, int64_t rows, int64_t channels);
  /// dx and, if not null, dresidual of these rows from the sums over all `total` rows.
  void (*batch_norm_backward)(void* dx, void* dresidual, const void* dy, const void* y, const void* x,
                              const BatchOperands& operands, const void* dweight, const void* dbias, int64_t total,
                              int64_t rows, int64_t channels);

  /// y [n] = or += the sum of `of.rows` × `of.columns` vectors (A).
  void (*sum_grid)(void* y, const VectorGrid& of, int64_t n, bool accumulate);
  /// y [n] = the maximum over a grid's vectors (T), and the places of the maxima; a NaN counts as the greatest.
  void (*greatest_of_grid)(void* y, std::int32_t* index, const VectorGrid& of, std::int32_t first_place,
                           int64_t row_places, int64_t n);
  /// dx [n] = the sum of a grid's vectors (T), only of elements whose index is `place`; indices have the same layout.
  void (*sum_where)(void* dx, const VectorGrid& of, const std::int32_t* index, std::int32_t place, int64_t n);
  /// y = bytes/127.5 - 1.
  void (*pixels)(void* y, const std::int32_t* bytes, int64_t n);

  /// T from and to A.
  void (*widen)(void* wide, const void* x, int64_t n);
  void (*narrow)(void* x, const void* wide, int64_t n);
};

/// The loops for an element type (fp64, fp32, bf16 or fp16) in the instruction set of the options.
const Loops& loops_for(DType type, const Options& options);

// Each instruction set's own tables; index 0 fp64, 1 fp32, 2 bf16, 3 fp16.
namespace v2 {
const Loops& loops(int type);
}
namespace v3 {
const Loops& loops(int type);
}
namespace v4 {
const Loops& loops(int type);
}

}  // namespace rankscope::kernels::cpu
