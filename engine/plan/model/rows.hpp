// A kind of model as rows of tables: its parameters, the shapes of its tensors, and its segments. gpt_rows.hpp,
// llama_rows.hpp and resnet_rows.hpp are such tables, the only place with these facts: make_rows turns rows into a
// Model, and programs, layers and the simulator read that. Internal to the room, except engine/execute/layers, which
// checks that each segment has an implementation.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "engine/plan/model/layer.hpp"
#include "engine/plan/model/model.hpp"

namespace rankscope {

/// A few values, as a literal: too many are a compile error.
template <class T, int most>
class Few {
 public:
  constexpr Few() = default;
  constexpr Few(std::initializer_list<T> items) {
    for (const T& item : items) items_[size_++] = item;
  }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }
  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr Few operator+(const Few& more) const {
    Few sum = *this;
    for (const T& item : more) sum.items_[sum.size_++] = item;
    return sum;
  }
  constexpr bool has(const T& item) const {
    for (const T& other : *this)
      if (other == item) return true;
    return false;
  }
  /// The item's position; -1 if it is not in the list.
  constexpr int find(const T& item) const {
    for (int i = 0; i < size_; ++i)
      if (items_[i] == item) return i;
    return -1;
  }

 private:
  std::array<T, most> items_{};
  int size_ = 0;
};

/// The sizes that shapes and costs are computed from.
enum class Size : std::uint8_t {
  one,
  samples,
  all_rows,  ///< tokens of a micro-batch; of a resnet its samples
  width,     ///< of a GPT
  // Of a GPT.
  context,
  own_rows,   ///< rows of the residual stream that a tensor rank has
  share,      ///< columns that a tensor rank has: width / T
  own_heads,  ///< heads that a tensor rank has
  words,      ///< of the vocabulary
  own_words,  ///< rows of a tensor rank: ⌈words / T⌉, the last of which may be padding
  ranks,      ///< of the tensor group: T
  inner,      ///< of a Llama: columns of the gated MLP
  own_inner,
  packed,      ///< of a Llama: columns of its queries, keys and values
  own_packed,  ///< of those, a tensor rank's
  group,       ///< of a Llama: heads of queries for each of keys
  // Of a residual network. A part of it (the stem with its pool, a block, the classifier) reads images, computes some
  // in between, and outputs some.
  in_side,  ///< pixels
  middle_side,
  out_side,
  in_channels,
  middle_channels,
  out_channels,
};
inline constexpr int size_count = 22;

/// A multiple of a size.
struct Extent {
  Size size = Size::one;
  int times = 1;
  constexpr Extent() = default;
  constexpr Extent(Size s, int n = 1) : size(s), times(n) {}
};
constexpr Extent operator*(int times, Size size) { return {size, times}; }
using Extents = Few<Extent, 4>;

/// The sizes of one part of a model, as a rank has it.
struct Sizes {
  std::array<std::int64_t, size_count> of{};
  std::int64_t& operator[](Size size) { return of[static_cast<std::size_t>(size)]; }
  std::int64_t operator[](Size size) const { return of[static_cast<std::size_t>(size)]; }
  std::int64_t operator[](Extent extent) const { return extent.times * (*this)[extent.size]; }
  Shape shape(const Extents& extents) const {
    Shape shape;
    for (const Extent& extent : extents) shape.extent[shape.rank++] = (*this)[extent];
    return shape;
  }
};

/// The place of a part; a row of a block applies once for each block.
enum class Place : std::uint8_t { before_blocks, block, behind_blocks };

/// When a row applies.
enum class When : std::uint8_t {
  always,
  untied,      ///< the head has its own matrix
  same_size,   ///< in a residual network's block that keeps the size of its images
  other_size,  ///< in one that does not: the first of each stage
};

/// A parameter within its part of the model: its place in a list of names that each table has.
using Parameter = std::uint8_t;

/// The initial value of a parameter.
enum class Start : std::uint8_t {
  zeros,
  ones,
  normal,           ///< GPT-2's (Radford et al. 2019): a deviation of 0.02
  residual_normal,  ///< the same over √(2·layers): of products that add to the residual stream, which otherwise grows
  fan_out,          ///< of convolutions: √(2/(k²·out)) (He et al. 2015, arXiv 1502.01852), torchvision's fan-out
  fan_in,           ///< 1/√(3·in): as torchvision's linear layer, uniform within 1/√in
  /// 1/√layers. With weights of 1 each block adds as much as its input, and gradients grow from block to block (De
  /// and Smith 2020, arXiv 2002.10444; torchvision has 1, or 0 with zero_init_residual, whose convolutions have no
  /// gradient at first).
  inverse_root_of_depth,
};

struct ParameterRow {
  Parameter name;
  std::string_view text;  ///< as in checkpoints, after the block's prefix
  Place place;
  Extents whole;  ///< matrices are [out, in], row-major
  Start start;
  TensorSplit split{};
  When when = When::always;
  Parameter otherwise = name;    ///< its replacement if it does not apply
  Size first_group = Size::one;  ///< TensorSplit::first
};

/// Which type a tensor's elements have.
enum class Element : std::uint8_t {
  computed,   ///< Model::type
  statistic,  ///< accumulation_type of it
  i32,
  f64,
};

struct TensorRow {
  TensorName name;
  Element element;
  Extents shape;
};

/// A piece of a segment's work, and its dependence on sizes.
struct WorkRow {
  Work what = Work::lookup;
  Extent in{}, out{};   ///< of a product; `out` of an activation
  TensorName tensor{};  ///< the result of a convolution, the input of a batch norm
  Parameter weight{};   ///< of a convolution
  bool bias = true;     ///< of a product or a residual sum
  constexpr WorkRow() = default;
  constexpr WorkRow(Work w) : what(w) {}
  constexpr WorkRow(Work w, Extent i, Extent o) : what(w), in(i), out(o) {}
  constexpr WorkRow(Work w, TensorName t, Parameter p = {}) : what(w), tensor(t), weight(p) {}
};

using Tensors = Few<TensorName, 7>;
using Parameters = Few<Parameter, 4>;

/// A half of a backward.
struct HalfRow {
  Tensors gradients{};  ///< read; for the input gradient, all that backward reads
  Tensors kept{};
  Parameters parameters{};  ///< whose gradients it computes
};

/// A segment; see SegmentSpec for its operands. Names are those of one rank alone: data that tensor ranks exchange
/// has its name after the exchange in segments that did not compute it themselves (Model::exchanges).
struct SegmentRow {
  Segment kind;
  Place place;
  Layer layer{};
  When when = When::always;
  Parameters parameters{};
  Tensors inputs{}, outputs{};
  Tensors changed{};  ///< of the outputs
  Tensors gradient_inputs{}, kept{}, gradient_outputs{};
  Tensors added_gradients{};  ///< of the gradient outputs
  HalfRow input{}, weight{};  ///< an empty half does not exist
  bool backward_reads_parameters = true;
  int dropout_site = 0;
  Few<WorkRow, 5> work{};

  constexpr bool has_backward() const { return !gradient_outputs.empty() || !weight.parameters.empty(); }
};

/// A kind of model.
struct Architecture {
  std::string_view block_prefix;  ///< of its parameters' names: "h." becomes "h.3."
  std::span<const ParameterRow> parameters;
  std::span<const TensorRow> tensors;
  std::span<const SegmentRow> segments;
  std::span<const Exchange> exchanges;
};

/// Whether both halves of a segment's backward together have the same as the whole one: its kept tensors, and of its
/// parameters each gradient once.
constexpr bool halves_equal_whole(const SegmentRow& row) {
  for (const TensorName name : row.kept)
    if (!row.input.kept.has(name) && !row.weight.kept.has(name)) return false;
  for (const HalfRow* half : {&row.input, &row.weight})
    for (const TensorName name : half->kept)
      if (!row.kept.has(name)) return false;
  for (const TensorName name : row.weight.gradients)
    if (!row.gradient_inputs.has(name)) return false;
  for (const Parameter name : row.parameters)
    if (row.input.parameters.has(name) == row.weight.parameters.has(name)) return false;
  return true;
}
template <std::size_t n>
constexpr bool halves_equal_whole(const SegmentRow (&rows)[n]) {
  for (const SegmentRow& row : rows)
    if (row.has_backward() && !halves_equal_whole(row)) return false;
  return true;
}

}  // namespace rankscope
