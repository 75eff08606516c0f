// Samples to train on. A sample is `context` tokens and, for each, the token that follows it; for a resnet an image and
// its class. Samples have a global index that is continuous over the complete run; the content of a sample depends only
// on the data, its seed and that index, never on the plan, so every plan trains on the same data in the same order.
#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Data that cannot be read or does not fit the model: what() contains the file, the error and the correction, in one
/// line.
struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  /// Writes samples [first_sample, first_sample + samples): `tokens` and `targets` are [samples, context], the target
  /// of a position is the token after it. (For images see images.hpp.) Safe to call from several threads. Throws
  /// DataError.
  virtual void fill(std::int64_t first_sample, int samples, std::int32_t* tokens, std::int32_t* targets) const = 0;

  /// The lowest possible mean loss, in nats per token, of a predictor that sees a sample's tokens up to the one
  /// it predicts from; NaN if unknown.
  virtual double entropy_nats() const = 0;
};

/// Opens `data.source` for the model's context and vocabulary:
///   synthetic     the language of language.hpp, or for a resnet the images of images.hpp, drawn from data.seed,
///                 unlimited
///   text:FILE     tokens are the file's bytes; the vocabulary must have at least 256
///   tokens:FILE   tokens are 16-bit unsigned integers, little-endian, without a header; each below the vocabulary
/// Files are read in epochs, each in its own order (see token_file.hpp). Relative paths start at the scenario's folder.
/// Null for a single collective, which has no samples. Throws DataError.
std::unique_ptr<Dataset> open_dataset(const Scenario& scenario);

}  // namespace rankscope
