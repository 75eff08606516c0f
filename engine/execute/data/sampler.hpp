// The distributed sampler: which samples belong to which step, data-parallel rank and micro-batch.
#pragma once
#include <cstdint>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// How a step's samples are distributed. Every step uses the next `global_batch` samples; every data-parallel rank a
/// contiguous part of them, every micro-batch a contiguous part of its rank's. All tensor and pipeline ranks of one
/// data coordinate use the same samples.
struct BatchShape {
  int data = 1;           ///< data-parallel ranks
  int micro_batches = 1;  ///< per rank and step
  int micro_batch_size = 1;
  std::int64_t global_batch() const { return std::int64_t{data} * micro_batches * micro_batch_size; }
  /// Global index of the first of the `micro_batch_size` samples of that micro-batch.
  std::int64_t first_sample(std::int64_t step, int data_rank, int micro_batch) const {
    return step * global_batch() + (std::int64_t{data_rank} * micro_batches + micro_batch) * micro_batch_size;
  }
};

BatchShape batch_shape(const Scenario& scenario);

}  // namespace rankscope
