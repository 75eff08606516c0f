// Selects the rows and the head of a block of an attention kernel. Internal to kernels/cuda.
#pragma once
#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/element.cuh"

namespace rankscope::kernels::cuda {

struct Task {
  HeadPlace head;
  int64_t first;  ///< row of the head, the first of a tile
};

/// Blocks start in order, and those with most work must be first: for queries those of the last rows, which attend to
/// most keys; for keys those of the first rows.
__device__ inline Task last_tile_first(const AttentionShape& shape, int rows) {
  const int64_t heads = shape.samples * shape.heads, tiles = (shape.context + rows - 1) / rows;
  return {place_of(shape, int64_t{blockIdx.x} % heads), (tiles - 1 - int64_t{blockIdx.x} / heads) * rows};
}
__device__ inline Task first_tile_first(const AttentionShape& shape, int rows) {
  const int64_t heads = shape.samples * shape.heads;
  return {place_of(shape, int64_t{blockIdx.x} % heads), int64_t{blockIdx.x} / heads * rows};
}

}  // namespace rankscope::kernels::cuda
