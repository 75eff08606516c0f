// Dynamic loss scaling: in fp16 small gradients would become zero, so the loss is multiplied by a scale, and gradients
// are divided by it before they are used (Micikevicius et al. 2018, arXiv 1710.03740). A scale that is too large causes
// an overflow: that step is skipped and the scale halved; after a number of steps without one it is doubled.
#pragma once
#include <cstdint>

namespace rankscope {

/// The state in memory: [scale, steps since its last change, number of updates]. It is equal on all ranks, since all
/// use the same global norm.
class LossScale {
 public:
  explicit LossScale(double* state) : state_(state) {}

  void reset(double scale) {
    state_[0] = scale;
    state_[1] = state_[2] = 0;
  }
  double scale() const { return state_[0]; }
  std::uint64_t updates() const { return static_cast<std::uint64_t>(state_[2]); }
  /// The square norm of gradients, from that of scaled ones.
  double unscaled_square(double scaled_square) const { return scaled_square / (state_[0] * state_[0]); }

  /// After a step: whether its gradients were finite.
  void adjust(bool finite, int window) {
    if (!finite) {
      state_[0] = state_[0] > 1 ? state_[0] / 2 : 1;
      state_[1] = 0;
      return;
    }
    ++state_[2];
    if (++state_[1] >= window) {
      state_[0] *= 2;
      state_[1] = 0;
    }
  }

 private:
  double* state_;
};

}  // namespace rankscope
