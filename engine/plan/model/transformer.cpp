#include <fmt/format.h>

#include <span>
#include <stdexcept>

#include "engine/op/words.hpp"
#include "engine/plan/model/architectures.hpp"
#include "engine/plan/model/gpt_rows.hpp"
#include "engine/plan/model/llama_rows.hpp"
#include "engine/plan/model/make_rows.hpp"
#include "engine/plan/scenario/llama.hpp"

namespace rankscope {
namespace {

/// A kind's tables.
struct Tables {
  std::string_view block_prefix;
  std::span<const ParameterRow> parameters;
  std::span<const TensorRow> tensors;
  std::span<const SegmentRow> segments, split_segments;
  Architecture one_rank() const { return {block_prefix, parameters, tensors, segments, {}}; }
  Architecture tensor_ranks(bool rows) const {
    const std::span<const Exchange> exchanges =
        rows ? std::span<const Exchange>(transformer_rows::row_exchanges) : transformer_rows::exchanges;
    return {block_prefix, parameters, tensors, split_segments, exchanges};
  }
};
constexpr Tables gpt{"h.", gpt_rows::parameters, gpt_rows::tensors, gpt_rows::segments, gpt_rows::split_segments};
constexpr Tables llama{"model.layers.", llama_rows::parameters, llama_rows::tensors, llama_rows::segments,
                       llama_rows::split_segments};
const Tables& tables_of(const ModelSpec& spec) { return spec.kind == ModelKind::llama ? llama : gpt; }

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
  if (spec.kind != ModelKind::llama) return sizes;
  const std::int64_t keys = spec.heads_of_keys();
  sizes[Size::inner] = sizes[Size::own_inner] = spec.mlp_width();
  sizes[Size::packed] = sizes[Size::own_packed] = (spec.heads + 2 * keys) * (spec.width / spec.heads);
  sizes[Size::group] = spec.heads / keys;
  return sizes;
}

Sizes sizes_of(const Model& model) {
  Sizes sizes = whole_sizes(model.spec, model.micro_batch_size);
  sizes[Size::own_rows] = model.stream_tokens();
  for (const Size shared : {Size::share, Size::own_heads, Size::own_inner, Size::own_packed})
    sizes[shared] /= model.tensor;
  sizes[Size::own_words] = model.vocabulary_share();
  sizes[Size::ranks] = model.tensor;
  return sizes;
}

}  // namespace

void make_transformer(Model& model, const Scenario& scenario) {
  const ModelSpec& spec = model.spec;
  model.tensor = scenario.plan.tensor;
  model.sequence_parallel = scenario.plan.sequence_parallel && model.tensor > 1;
  model.narrow_logits = scenario.plan.logits == LogitsType::narrow;
  model.masks_padding = scenario.fault.plant != Plant::unmasked_padding;
  if (const auto complaint = llama_complaint(scenario)) throw std::invalid_argument(complaint->what);
  if (spec.heads % model.tensor != 0)
    throw std::invalid_argument(
        fmt::format("{} cannot be shared by {}", counted(spec.heads, "head"), counted(model.tensor, "tensor rank")));
  if (model.sequence_parallel && model.tokens() % model.tensor != 0)
    throw std::invalid_argument(fmt::format("a micro-batch of {} cannot be shared by {}",
                                            counted(model.tokens(), "token"), counted(model.tensor, "tensor rank")));
  const Tables& tables = tables_of(spec);
  make_rows(model, model.tensor == 1 ? tables.one_rank() : tables.tensor_ranks(model.sequence_parallel),
            [part = Part{sizes_of(model)}](Place, int) { return part; });
}

double transformer_flops_per_sample(const ModelSpec& spec) {
  const Part whole{whole_sizes(spec, 1)};
  const Architecture architecture = tables_of(spec).one_rank();
  double flops = 0;
  for (const SegmentRow& row : architecture.segments)
    if (applies(row.when, spec, whole))
      flops += (row.place == Place::block ? spec.layers : 1) * flops_of(row, architecture, whole.sizes).sum();
  return flops;
}

}  // namespace rankscope
