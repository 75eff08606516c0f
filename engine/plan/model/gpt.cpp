#include "engine/plan/model/architectures.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "engine/op/words.hpp"
#include "engine/plan/model/gpt_rows.hpp"
#include "engine/plan/model/make_rows.hpp"

namespace rankscope {
namespace {

constexpr Architecture one_rank{"h.", gpt_rows::parameters, gpt_rows::tensors, gpt_rows::segments, {}};
constexpr Architecture tensor_ranks{"h.", gpt_rows::parameters, gpt_rows::tensors, gpt_rows::split_segments,
                                    gpt_rows::exchanges};
constexpr Architecture tensor_ranks_with_rows{"h.", gpt_rows::parameters, gpt_rows::tensors, gpt_rows::split_segments,
                                              gpt_rows::row_exchanges};

/// Of one rank that has every layer completely.
Sizes whole_sizes(const ModelSpec& spec, std::int64_t samples) {
  Sizes sizes;
  sizes[Size::one] = 1;
  sizes[Size::samples] = samples;
  sizes[Size::all_rows] = sizes[Size::own_rows] = samples * spec.context;
  sizes[Size::width] = sizes[Size::share] = spec.width;
  sizes[Size::context] = spec.context;
  sizes[Size::own_heads] = spec.heads;
  sizes[Size::words] = sizes[Size::own_words] = spec.vocabulary;
  sizes[Size::ranks] = 1;
  return sizes;
}

Sizes sizes_of(const Model& model) {
  Sizes sizes = whole_sizes(model.spec, model.micro_batch_size);
  sizes[Size::own_rows] = model.stream_tokens();
  sizes[Size::share] /= model.tensor;
  sizes[Size::own_heads] /= model.tensor;
  sizes[Size::own_words] = model.vocabulary_share();
  sizes[Size::ranks] = model.tensor;
  return sizes;
}

}  // namespace

void make_gpt(Model& model, const Scenario& scenario) {
  const ModelSpec& spec = model.spec;
  model.tensor = scenario.plan.tensor;
  model.sequence_parallel = scenario.plan.sequence_parallel && model.tensor > 1;
  model.narrow_logits = scenario.plan.logits == LogitsType::narrow;
  model.masks_padding = scenario.fault.plant != Plant::unmasked_padding;
  if (spec.heads % model.tensor != 0)
    throw std::invalid_argument(
        fmt::format("{} cannot be shared by {}", counted(spec.heads, "head"), counted(model.tensor, "tensor rank")));
  if (model.sequence_parallel && model.tokens() % model.tensor != 0)
    throw std::invalid_argument(fmt::format("a micro-batch of {} cannot be shared by {}",
                                            counted(model.tokens(), "token"), counted(model.tensor, "tensor rank")));
  const Architecture& architecture = model.tensor == 1         ? one_rank
                                     : model.sequence_parallel ? tensor_ranks_with_rows
                                                               : tensor_ranks;
  make_rows(model, architecture, [part = Part{sizes_of(model)}](Place, int) { return part; });
}

double gpt_flops_per_sample(const ModelSpec& spec) {
  const Part whole{whole_sizes(spec, 1)};
  double flops = 0;
  for (const SegmentRow& row : gpt_rows::segments)
    if (applies(row.when, spec, whole))
      flops += (row.place == Place::block ? spec.layers : 1) * flops_of(row, one_rank, whole.sizes).sum();
  return flops;
}

}  // namespace rankscope
