// The segments of a GPT and what they cost. Internal to the room: make_model puts them together.
#pragma once
#include "engine/model/model.hpp"

namespace rankscope {

/// The sizes that shapes and costs are made of.
struct SegmentSizes {
  std::int64_t samples, context, width;
  std::int64_t heads, vocabulary;  ///< that one tensor rank has
  DType type;
  std::int64_t tensor = 1;         ///< ranks
  std::int64_t stream_tokens = 0;  ///< rows of the residual stream that one has
  std::int64_t tokens() const { return samples * context; }
};

/// Where a block's parameters begin in Model::parameters; within a block they stand in the order of GPT-2 checkpoints.
enum BlockParameter : int {
  ln_1_weight,
  ln_1_bias,
  c_attn_weight,
  c_attn_bias,
  attn_c_proj_weight,
  attn_c_proj_bias,
  ln_2_weight,
  ln_2_bias,
  c_fc_weight,
  c_fc_bias,
  mlp_c_proj_weight,
  mlp_c_proj_bias,
  block_parameter_count,
};

/// Each returns one segment with operands, FLOPs and bytes. `parameters` is the model's table, read for the operands'
/// bytes; `first` is the index of the block's first parameter.
SegmentSpec embedding_segment(const SegmentSizes& sizes, int wte, int wpe);
SegmentSpec block_segment(Segment kind, int block, const SegmentSizes& sizes,
                          const std::vector<ParameterSpec>& parameters, int first);
SegmentSpec head_segment(const SegmentSizes& sizes, const std::vector<ParameterSpec>& parameters, int ln_f_weight,
                         int ln_f_bias, int matrix);

/// The same of tensor ranks; `parallel`: with sequence parallelism. `parameters` are those of the block, or of the
/// embedding or head, in the order of the table in model.hpp. Words are the whole vocabulary's: padding is no work.
struct SplitSegments {
  const SegmentSizes& sizes;
  const std::vector<ParameterSpec>& parameters;
  bool parallel;
  double words;

  SegmentSpec embedding(int wte) const;
  SegmentSpec positions(int wpe) const;
  SegmentSpec of_block(Segment kind, int block, int first) const;
  SegmentSpec final_norm(int ln_f_weight, int ln_f_bias) const;
  SegmentSpec head(int matrix) const;
  SegmentSpec loss() const;
};
std::vector<Exchange> exchanges_of(bool sequence_parallel);

}  // namespace rankscope
