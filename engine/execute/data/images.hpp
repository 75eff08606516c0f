// Synthetic images of known classes, whose labels are sometimes wrong, so that the lowest possible mean loss is known.
//
// An image is a wave in each of its three colours, with noise. The class determines the waves' directions (one of eight
// for each colour) and their length (one of four, the same for all); their phases are random, so one pixel has no
// information about the class: filters of several pixels are needed, that is convolutions. The noise is bounded and the
// waves are not small, so the class can be recognised; the label is another class with a probability of one tenth. The
// best predictor recognises the class, so the floor is the entropy of the label given the class.
#pragma once
#include <cstdint>

#include "engine/execute/data/dataset.hpp"

namespace rankscope {

class SyntheticImages : public Dataset {
 public:
  static constexpr int most_classes = 8 * 8 * 8 * 4;
  static constexpr double wrong_label = 0.1;

  /// `image`: pixels of a side; 2 ≤ classes ≤ most_classes.
  SyntheticImages(int image, int classes, std::uint64_t seed);

  /// `tokens`: bytes (0 to 255) of the images [samples, image, image, 3]; `targets`: the labels [samples].
  void fill(std::int64_t first_sample, int samples, std::int32_t* tokens, std::int32_t* targets) const override;
  double entropy_nats() const override;

  /// The class of a sample's image, independent of its label.
  int class_of(std::int64_t sample) const;

 private:
  void draw(std::int64_t sample, std::int32_t* bytes) const;

  int image_, classes_;
  std::uint64_t seed_;
};

}  // namespace rankscope
