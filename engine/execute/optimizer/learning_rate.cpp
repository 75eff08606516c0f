#include "engine/execute/optimizer/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rankscope {

LearningRate::LearningRate(const TrainSpec& train)
    : base_(train.learning_rate),
      least_(train.min_learning_rate),
      warmup_(train.warmup_steps),
      end_(train.decay_steps > 0 ? train.decay_steps : train.steps),
      decay_(train.decay) {}

double LearningRate::at(std::uint64_t step) const {
  const double s = static_cast<double>(step);
  if (s < warmup_) return base_ * (s + 1) / warmup_;
  const double x = end_ > warmup_ ? std::min(1.0, (s - warmup_) / (end_ - warmup_)) : 1.0;
  switch (decay_) {
    case Decay::none: return base_;
    case Decay::linear: return base_ + (least_ - base_) * x;
    case Decay::cosine: return least_ + (base_ - least_) * (1 + std::cos(std::numbers::pi * x)) / 2;
  }
  return base_;
}

}  // namespace rankscope
