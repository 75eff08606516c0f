// Llamas as data: published sizes, FLOPs in closed form, and the shares of tensor ranks.
#include "engine/plan/model/model.hpp"

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

struct LlamaSizes {
  int layers, width, heads, key_value_heads, inner, vocabulary;
  bool tied = false;
};

Scenario llama_of(const LlamaSizes& s, int context, int tensor = 1) {
  Scenario scenario;
  scenario.model = {.kind = "llama",
                    .layers = s.layers,
                    .width = s.width,
                    .heads = s.heads,
                    .context = context,
                    .vocabulary = s.vocabulary,
                    .tied = s.tied,
                    .key_value_heads = s.key_value_heads,
                    .inner = s.inner};
  scenario.train.global_batch = 1;
  scenario.plan.tensor = tensor;
  return scenario;
}

const ParameterSpec& llama_parameter(const Model& model, const std::string& name) {
  for (const ParameterSpec& p : model.parameters)
    if (p.name == name) return p;
  throw std::runtime_error("no parameter " + name);
}

const LlamaSizes seven_b{32, 4096, 32, 32, 11008, 32000}, llama_3_8b{32, 4096, 32, 8, 14336, 128256};

}  // namespace

TEST_CASE("released Llamas have the parameter counts of their checkpoints") {
  // Of the checkpoints of Llama 2 7B, Llama 3 8B, Mistral 7B v0.1, TinyLlama 1.1B, and Llama 3.2 1B, whose head is
  // tied.
  const std::pair<LlamaSizes, std::int64_t> rows[] = {{seven_b, 6'738'415'616},
                                                      {llama_3_8b, 8'030'261'248},
                                                      {{32, 4096, 32, 8, 14336, 32000}, 7'241'732'096},
                                                      {{22, 2048, 32, 4, 5632, 32000}, 1'100'048'384},
                                                      {{16, 2048, 32, 8, 8192, 128256, true}, 1'235'814'400}};
  for (const auto& [sizes, count] : rows) CHECK(make_model(llama_of(sizes, 2048)).parameter_count() == count);
}

TEST_CASE("a Llama's FLOPs are six for each weight of a product and token, and those of all scores") {
  for (const LlamaSizes& s : {seven_b, llama_3_8b}) {
    const std::int64_t context = 2048, depth = s.width / s.heads;
    const Model model = make_model(llama_of(s, static_cast<int>(context)));
    std::int64_t weights = std::int64_t{s.width} * s.vocabulary;
    weights += std::int64_t{s.layers} * s.width * (s.width + 2 * s.key_value_heads * depth);   // q, k, v
    weights += std::int64_t{s.layers} * s.width * (s.width + 3 * s.inner);                     // o, gate, up, down
    const double scores = 12.0 * s.layers * s.width * static_cast<double>(context * context);  // and values
    const double expected = 6.0 * static_cast<double>(weights * context) + scores;
    CHECK(model.model_flops_per_sample() == Approx(expected).epsilon(1e-14));
    double of_segments = 0;
    for (const SegmentSpec& segment : model.segments)
      of_segments += segment.forward_flops + segment.input_gradient_flops + segment.weight_gradient_flops;
    CHECK(of_segments == Approx(expected).epsilon(1e-14));
  }
}

TEST_CASE("tensor ranks share a Llama's heads, MLP and vocabulary, and keep what their share needs") {
  const Model one = make_model(llama_of(llama_3_8b, 64)), share = make_model(llama_of(llama_3_8b, 64, 4));
  CHECK(llama_parameter(share, "model.layers.3.self_attn.qkv_proj.weight").shape ==
        Shape{(32 + 8 + 8) * 128 / 4, 4096});
  CHECK(llama_parameter(share, "model.layers.3.mlp.gate_up_proj.weight").shape == Shape{2 * 14336 / 4, 4096});
  CHECK(llama_parameter(share, "model.layers.3.mlp.down_proj.weight").shape == Shape{4096, 14336 / 4});
  CHECK(llama_parameter(share, "model.layers.3.input_layernorm.weight").shape == Shape{4096});
  CHECK(llama_parameter(share, "lm_head.weight").shape == Shape{128256 / 4, 4096});
  CHECK(share.parameter_count() == one.parameter_count());
  const auto bytes_of_tensor = [](const Model& model, Segment kind, TensorName name) {
    return find_tensor(model, model.segment(0, kind), name)->bytes();
  };
  // Keys and values are kept once for each group of queries.
  CHECK(bytes_of_tensor(one, Segment::attention, TensorName::qkv) == 64 * (32 + 8 + 8) * 128 * 4);
  CHECK(bytes_of_tensor(one, Segment::up, TensorName::gate_up) == 64 * 2 * 14336 * 4);
  for (const auto& [kind, name] : {std::pair{Segment::attention, TensorName::qkv}, {Segment::up, TensorName::gate_up}})
    CHECK(4 * bytes_of_tensor(share, kind, name) == bytes_of_tensor(one, kind, name));
}

TEST_CASE("a Llama whose MLP's width is not given has 8/3 of its own, in multiples of 64") {
  ModelSpec spec;
  for (const auto& [width, inner] : {std::pair{128, 384}, {4096, 10944}, {192, 512}, {24, 64}}) {
    spec.width = width;
    CHECK(spec.mlp_width() == inner);
  }
}
