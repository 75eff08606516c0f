// The layers that models are made of. A row of a model's table names its layer; who binds kernels to a segment
// (engine/execute/layers) visits it, and the rows of transformer_rows.hpp derive from it what a segment reads, keeps
// and costs.
#pragma once
#include <cstdint>
#include <variant>

namespace rankscope {

enum class NormKind : std::uint8_t {
  layer,  ///< Ba et al. 2016, arXiv 1607.06450: with mean, weight and bias
  rms,    ///< Zhang and Sennrich 2019, arXiv 1910.07467: without mean and bias
};

/// What follows a product.
enum class Activation : std::uint8_t {
  none,
  gelu,    ///< in its tanh form
  swiglu,  ///< of two halves: silu(gate)·up (Shazeer 2020, arXiv 2002.05202)
};

namespace layer {

struct Embedding {};       ///< tokens and learned positions, with dropout
struct TokenEmbedding {};  ///< tokens alone: all of them, or of a tensor rank its own
/// Positions added to the tensor ranks' sum, with dropout.
struct Positions {
  bool learned = true;  ///< else there are none, and the sum's rows become the residual stream as they are
};
/// A norm of the residual stream, and a product.
struct NormProduct {
  NormKind norm = NormKind::layer;
  bool bias = true;  ///< of the product
  Activation activation = Activation::none;
};
struct Attention {
  bool rotary = false;  ///< its queries and keys are turned by their positions, and its queries may be grouped
};
/// A product, dropout, and the sum with the residual stream. Its backward passes through the activation before it.
struct ResidualProduct {
  bool bias = true;
  Activation before = Activation::none;
};
struct Head {
  NormKind norm = NormKind::layer;
};

// Of tensor ranks.
struct StreamNorm {
  NormKind norm = NormKind::layer;
};
/// A product whose result needs no sum over ranks.
struct SplitProduct {
  bool bias = true;
  Activation activation = Activation::none;
};
/// One whose result is a rank's part of a sum.
struct PartialProduct {
  Activation before = Activation::none;
};
/// The sum of a residual branch, with its bias and dropout, and the stream; then a norm.
struct SumNorm {
  NormKind norm = NormKind::layer;
  bool bias = true;
};
struct Sum {
  bool bias = true;
};
struct SplitHead {};
struct Loss {};

// Of residual networks.
struct Stem {};
struct Pool {};
struct FirstConvolution {};
struct NormConvolution {};
struct ShortcutSum {};
struct Classifier {};

}  // namespace layer

/// std::monostate: none, of a segment that is no part of a model.
using Layer =
    std::variant<std::monostate, layer::Embedding, layer::TokenEmbedding, layer::Positions, layer::NormProduct,
                 layer::Attention, layer::ResidualProduct, layer::Head, layer::StreamNorm, layer::SplitProduct,
                 layer::PartialProduct, layer::SumNorm, layer::Sum, layer::SplitHead, layer::Loss, layer::Stem,
                 layer::Pool, layer::FirstConvolution, layer::NormConvolution, layer::ShortcutSum, layer::Classifier>;

}  // namespace rankscope
