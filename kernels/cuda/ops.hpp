// How each op is prepared on a GPU: one file per op. The formulas are in kernels/kernel_set.hpp. Internal to
// kernels/cuda; cuda.cpp puts them into the table.
#pragma once
#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

// What products are followed by (kernels/followed_product.hpp).
Prepared<View, View> gelu(const ElementwiseSpec&, const Options&);
Prepared<View, View, View> gelu_slope(const ElementwiseSpec&, const Options&);

Prepared<View, View> bias_gradient(const BiasGradientSpec&, const Options&);
Prepared<View, View, View, View, View, View> norm_forward(const NormSpec&, const Options&);
Prepared<View, View, View, View, View, View, View, View, View> norm_backward(const NormSpec&, const Options&);
Prepared<View, View, View> attention_forward(const AttentionSpec&, const Options&);
Prepared<View, View, View, View, View> attention_backward(const AttentionSpec&, const Options&);
Prepared<View, View, View, View, double> cross_entropy(const CrossEntropySpec&, const Options&);
Prepared<View, View, View, View> embedding_forward(const EmbeddingSpec&, const Options&);
Prepared<View, View, View, View> embedding_backward(const EmbeddingSpec&, const Options&);
Prepared<View, View, View, DropoutDraw> dropout(const DropoutSpec&, const Options&);
Prepared<View, View, View, View, DropoutDraw> residual_sum(const DropoutSpec&, const Options&);
Prepared<View, View, View, std::int64_t> token_embedding_forward(const TokenEmbeddingSpec&, const Options&);
Prepared<View, View, View, std::int64_t> token_embedding_backward(const TokenEmbeddingSpec&, const Options&);
Prepared<View, View, View, std::int64_t> position_embedding_forward(const PositionEmbeddingSpec&, const Options&);
Prepared<View, View, std::int64_t> position_embedding_backward(const PositionEmbeddingSpec&, const Options&);
Prepared<View, View, View, View, VocabularyPart> vocabulary_numerators(const VocabularySpec&, const Options&);
Prepared<View, View, View, View, double, VocabularyPart> vocabulary_loss(const VocabularySpec&, const Options&);
Prepared<View, View, View, View, View, View, View> batch_norm_forward(const BatchNormSpec&, const Options&);
Prepared<View, View, View, View, View, View, View, View, View, View> batch_norm_backward(const BatchNormSpec&,
                                                                                         const Options&);
Prepared<View, View, View> max_pool_forward(const PoolSpec&, const Options&);
Prepared<View, View, View> max_pool_backward(const PoolSpec&, const Options&);
Prepared<View, View> mean_pool_forward(const MeanPoolSpec&, const Options&);
Prepared<View, View> mean_pool_backward(const MeanPoolSpec&, const Options&);
Prepared<View, View> pixels(const ElementwiseSpec&, const Options&);
Prepared<View, View, View> add(const ElementwiseSpec&, const Options&);
Prepared<View, double> scale(const FlatSpec&, const Options&);
Prepared<double*, View> square_norm(const FlatSpec&, const Options&);
Prepared<View, View> count_magnitudes(const FlatSpec&, const Options&);
Prepared<double*, const double*, double> clip_coefficient(const FlatSpec&, const Options&);
Prepared<double*> square_norms(const SquareNormsSpec&, const Options&);
Prepared<UpdateStep> update(const UpdateSpec&, const Options&);
// The parts of `update` that have kernels of their own: Adafactor's tensors, those whose states are bytes, and those
// whose step is relative to their own size.
Prepared<UpdateStep> adafactor_update(const UpdateSpec&);
Prepared<UpdateStep> trust_update(const UpdateSpec&);
Prepared<UpdateStep> adam8bit_update(const UpdateSpec&);

}  // namespace rankscope::kernels::cuda
