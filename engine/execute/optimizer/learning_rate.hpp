// The learning rate of a step: warm-up, then constant or decreasing.
#pragma once
#include <cstdint>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// With W = warmup_steps, D = decay_steps (or steps), r = learning_rate, l = min_learning_rate and s counted from 0:
///
///   s < W                r·(s + 1)/W                              linear warm-up; the last of its steps has r
///   decay "none"         r
///   decay "linear"       r + (l - r)·x                            x = (s - W)/(D - W), at most 1: l from step D on
///   decay "cosine"       l + (r - l)·(1 + cos(π·x))/2             (Loshchilov and Hutter 2017, without restarts)
class LearningRate {
 public:
  explicit LearningRate(const TrainSpec& train);
  double at(std::uint64_t step) const;

 private:
  double base_, least_;
  double warmup_, end_;  ///< steps
  Decay decay_;
};

}  // namespace rankscope
