#include "engine/plan/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

Scenario scenario_of(ModelSpec spec, int batch = 1, const std::string& precision = "fp32") {
  Scenario scenario;
  scenario.model = spec;
  scenario.train.global_batch = batch;
  scenario.plan.precision = precision;
  return scenario;
}

ModelSpec gpt(int layers, int width, int heads, int context, int vocabulary, bool tied = true) {
  ModelSpec spec;
  spec.layers = layers;
  spec.width = width;
  spec.heads = heads;
  spec.context = context;
  spec.vocabulary = vocabulary;
  spec.tied = tied;
  return spec;
}

const ParameterSpec& parameter(const Model& model, const std::string& name) {
  for (const ParameterSpec& p : model.parameters)
    if (p.name == name) return p;
  throw std::runtime_error("no parameter " + name);
}

double step_flops(const SegmentSpec& s) { return s.forward_flops + s.input_gradient_flops + s.weight_gradient_flops; }

}  // namespace

TEST_CASE("GPT-2's four sizes have their published parameter counts") {
  struct Row {
    int layers, width, heads;
    std::int64_t count;
  };
  // 124M is the count that is usually quoted; the others are those of the released checkpoints.
  const Row rows[] = {{12, 768, 12, 124'439'808},
                      {24, 1024, 16, 354'823'168},
                      {36, 1280, 20, 774'030'080},
                      {48, 1600, 25, 1'557'611'200}};
  for (const Row& row : rows) {
    const Model model = make_model(scenario_of(gpt(row.layers, row.width, row.heads, 1024, 50257)));
    CHECK(model.parameter_count() == row.count);
  }
}

TEST_CASE("parameters match 12Lh²(1+13/(12h)+(V+s)/(12Lh)), which omits the last layer norm") {
  for (const ModelSpec& spec : {gpt(1, 8, 2, 4, 16), gpt(8, 128, 4, 64, 256), gpt(24, 2304, 24, 2048, 51200)}) {
    const double L = spec.layers, h = spec.width, V = spec.vocabulary, s = spec.context;
    const double form = 12 * L * h * h * (1 + 13 / (12 * h) + (V + s) / (12 * L * h));
    const Model tied = make_model(scenario_of(spec));
    CHECK(static_cast<double>(tied.parameter_count()) == Approx(form + 2 * h).epsilon(1e-14));
    ModelSpec other = spec;
    other.tied = false;
    CHECK(make_model(scenario_of(other)).parameter_count() ==
          tied.parameter_count() + std::int64_t{spec.vocabulary} * spec.width);
  }
}

TEST_CASE("a step's FLOPs match 72BsLh²(1+s/(6h)+V/(12Lh))") {
  struct Row {
    ModelSpec spec;
    int batch;
  };
  // The last two are rows of Megatron's table (SC 2021): 1.7 B at batch 512, 145.6 B at 2304.
  const Row rows[] = {{gpt(1, 8, 2, 4, 16), 3},
                      {gpt(8, 128, 4, 64, 256), 32},
                      {gpt(24, 2304, 24, 2048, 51200), 512},
                      {gpt(80, 12288, 96, 2048, 51200), 2304}};
  for (const Row& row : rows) {
    const double L = row.spec.layers, h = row.spec.width, V = row.spec.vocabulary, s = row.spec.context, B = row.batch;
    const double form = 72 * B * s * L * h * h * (1 + s / (6 * h) + V / (12 * L * h));
    const Model model = make_model(scenario_of(row.spec, row.batch));
    CHECK(model.model_flops_per_sample() * B == Approx(form).epsilon(1e-12));
  }
}

TEST_CASE("FLOPs and traffic of a sample do not depend on how the batch is cut into micro-batches") {
  Scenario scenario = scenario_of(gpt(4, 64, 4, 32, 100), 16);
  const double whole = make_model(scenario).model_flops_per_sample();
  scenario.plan.micro_batches = 8;
  scenario.plan.data = 2;
  const Model model = make_model(scenario);
  CHECK(model.micro_batch_size == 1);
  CHECK(model.tokens() == 32);
  CHECK(model.model_flops_per_sample() == Approx(whole).epsilon(1e-14));
}

TEST_CASE("a tied head reads the token embedding, an untied one has a matrix of its own") {
  const Model tied = make_model(scenario_of(gpt(2, 8, 2, 4, 16, true)));
  CHECK(tied.parameters[tied.segments.back().parameters.back()].name == "wte.weight");
  CHECK(tied.segments.back().parameters.back() == tied.segments.front().parameters.front());
  const Model untied = make_model(scenario_of(gpt(2, 8, 2, 4, 16, false)));
  CHECK(untied.parameters[untied.segments.back().parameters.back()].name == "lm_head.weight");
}

TEST_CASE("parameters are named, shaped and initialised as GPT-2's, and are contiguous") {
  const Model model = make_model(scenario_of(gpt(8, 32, 4, 16, 64, false)));
  std::int64_t next = 0;
  std::set<std::string> names;
  for (const ParameterSpec& p : model.parameters) {
    INFO(p.name);
    CHECK(p.global_offset == next);
    next += p.shape.elements();
    CHECK(names.insert(p.name).second);
    CHECK(p.decay == (p.shape.rank == 2));
    const bool norm = p.name.find("ln_") != std::string::npos;
    const bool bias = p.name.find(".bias") != std::string::npos;
    CHECK((p.init == Init::ones) == (norm && !bias));
    CHECK((p.init == Init::zeros) == bias);
    if (p.init == Init::normal) {
      const bool residual = p.name.find("c_proj") != std::string::npos;
      CHECK(p.std_dev == Approx(residual ? 0.02 / 4 : 0.02));  // √(2·8) = 4
    }
  }
  CHECK(next == model.parameter_count());
  CHECK(parameter(model, "h.3.attn.c_attn.weight").shape == Shape{96, 32});
  CHECK(parameter(model, "h.0.mlp.c_fc.weight").shape == Shape{128, 32});
  CHECK(parameter(model, "h.7.mlp.c_proj.weight").shape == Shape{32, 128});
  CHECK(parameter(model, "wpe.weight").shape == Shape{16, 32});
}

TEST_CASE(
    "every segment reads what an earlier one wrote, keeps only its own tensors, and each gradient has one writer") {
  const Model model = make_model(scenario_of(gpt(2, 8, 2, 4, 16), 3));
  const SegmentSpec* before = nullptr;
  std::map<TensorName, Shape> alive{{TensorName::tokens, {12}}, {TensorName::targets, {12}}};
  for (const SegmentSpec& segment : model.segments) {
    INFO(name_of(segment.kind) << " of block " << segment.block);
    if (before && segment.block != before->block) {
      REQUIRE(alive.count(TensorName::output) == 1);
      alive = {{TensorName::targets, {12}}, {TensorName::residual, alive[TensorName::output]}};
    }
    std::map<TensorName, int> own;
    for (const TensorSpec& in : segment.inputs) {
      REQUIRE(alive.count(in.name) == 1);
      CHECK(alive[in.name] == in.shape);
      ++own[in.name];
    }
    for (const TensorSpec& out : segment.outputs) {
      CHECK(alive.emplace(out.name, out.shape).second);
      ++own[out.name];
    }
    if (segment.kind == Segment::down) own[TensorName::pre_gelu] += static_cast<int>(alive.count(TensorName::pre_gelu));
    for (TensorName kept : segment.kept) CHECK(own[kept] == 1);
    for (TensorName out : segment.gradient_outputs) CHECK(own[out] == 1);
    before = &segment;
  }
  // Within a block, each gradient that a segment reads was written exactly once, by a later segment (backward runs it
  // earlier). The block's own `residual` is also written once: it is the gradient of the previous block's output.
  for (int block = 0; block < 2; ++block) {
    std::map<TensorName, int> written{{TensorName::output, 1}};
    for (auto segment = model.segments.rbegin(); segment != model.segments.rend(); ++segment) {
      if (segment->block != block) continue;
      for (TensorName read : segment->gradient_inputs) CHECK(written[read] == 1);
      for (TensorName out : segment->gradient_outputs) ++written[out];
    }
    CHECK(written[TensorName::residual] == 1);
  }
}

TEST_CASE("the halves of a split backward read, write and cost what the whole one does") {
  const Model model = make_model(scenario_of(gpt(2, 8, 2, 4, 16), 2));
  const auto merged = [](auto a, const auto& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    a.erase(std::unique(a.begin(), a.end()), a.end());
    return a;
  };
  for (const SegmentSpec& s : model.segments) {
    INFO(name_of(s.kind));
    CHECK(merged(s.input_kept, s.weight_kept) == merged(s.kept, s.kept));
    // Each parameter's gradient is computed by one half.
    std::vector<int> all(s.parameters.size());
    std::iota(all.begin(), all.end(), 0);
    CHECK(s.input_parameters.size() + s.weight_parameters.size() == all.size());
    CHECK(merged(s.input_parameters, s.weight_parameters) == all);
    // A weight gradient reads only gradients that its input gradient also reads.
    for (const TensorName name : s.weight_gradient_inputs)
      CHECK(std::count(s.gradient_inputs.begin(), s.gradient_inputs.end(), name) == 1);
    CHECK(s.has_input_gradient() == (s.kind != Segment::embedding));
    CHECK(s.has_weight_gradient() == (s.kind != Segment::attention));
    if (!s.has_weight_gradient()) CHECK(s.weight_gradient_bytes == 0);
    if (!s.has_input_gradient()) CHECK(s.input_gradient_bytes == 0);
  }
  // projection, two samples of 4 tokens, width 8, fp32: gradients of middle and attended, the matrix and the bias;
  // then gradient of middle, attended, and the gradients of matrix and bias.
  CHECK(model.segments[3].input_gradient_bytes == 4 * (64 + 64 + 72));
  CHECK(model.segments[3].weight_gradient_bytes == 4 * (64 + 64 + 72));
}

TEST_CASE("recomputation repeats all of a block except what computes only its output, which no backward of it reads") {
  using enum Segment;
  struct Row {
    int tensor;
    bool sequence_parallel;
    std::vector<Segment> unrepeated;
  };
  for (const Row& row : {Row{1, false, {down}}, Row{2, false, {down, output}}, Row{2, true, {down, output}}}) {
    Scenario scenario = scenario_of(gpt(2, 8, 2, 4, 16), 3);
    scenario.plan.tensor = row.tensor;
    scenario.plan.sequence_parallel = row.sequence_parallel;
    const Model model = make_model(scenario);
    INFO(row.tensor << " tensor ranks, sequence parallelism " << row.sequence_parallel);
    for (const SegmentSpec& segment : model.segments) {
      INFO(name_of(segment.kind) << " of block " << segment.block);
      const bool is_left_out = std::count(row.unrepeated.begin(), row.unrepeated.end(), segment.kind) > 0;
      CHECK(segment.repeated == (segment.block >= 0 && !is_left_out));
      std::vector<Segment> behind;
      for (const SegmentSpec& other : model.unrepeated_behind(segment)) {
        CHECK(other.block == segment.block);
        behind.push_back(other.kind);
      }
      CHECK(behind == (segment.kind == up ? row.unrepeated : std::vector<Segment>{}));
    }
  }
}

TEST_CASE("types: statistics accumulate in fp32, or fp64 in fp64 runs, and the loss in fp64") {
  CHECK(accumulation_type(DType::f64) == DType::f64);
  for (DType type : {DType::f32, DType::bf16, DType::f16}) CHECK(accumulation_type(type) == DType::f32);
  for (const std::string precision : {"fp64", "fp32", "bf16", "fp16"}) {
    const Model model = make_model(scenario_of(gpt(1, 8, 2, 4, 16), 1, precision));
    for (const SegmentSpec& segment : model.segments)
      for (const auto& list : {segment.inputs, segment.outputs})
        for (const TensorSpec& t : list) switch (t.name) {
            case TensorName::tokens:
            case TensorName::targets: CHECK(t.type == DType::i32); break;
            case TensorName::loss: CHECK(t.type == DType::f64); break;
            case TensorName::mean1:
            case TensorName::rstd1:
            case TensorName::mean2:
            case TensorName::rstd2:
            case TensorName::softmax: CHECK(t.type == accumulation_type(model.type)); break;
            default: CHECK(t.type == model.type);
          }
  }
}

TEST_CASE("a product's traffic is its operands, each once") {
  // projection, two samples of 4 tokens, width 8, fp32: attended, residual and middle 8·8 each, matrix 8·8, bias 8.
  const Model model = make_model(scenario_of(gpt(1, 8, 2, 4, 16), 2));
  const SegmentSpec& projection = model.segments[3];
  REQUIRE(projection.kind == Segment::projection);
  CHECK(projection.forward_flops == 2 * 8 * 8 * 8);
  CHECK(projection.forward_bytes == 4 * (64 + 64 + 64 + 64 + 8));
  // backward: gradients of middle and attended, kept attended, matrix and bias, and their gradients.
  CHECK(projection.backward_bytes == 4 * (64 + 64 + 64 + 72 + 72));
  // bf16: activations and weights take half, gradients of weights stay fp32.
  const Model half = make_model(scenario_of(gpt(1, 8, 2, 4, 16), 2, "bf16"));
  CHECK(half.segments[3].forward_bytes == projection.forward_bytes / 2);
  CHECK(half.segments[3].backward_bytes == 2 * (64 + 64 + 64 + 72) + 4 * 72);
  // The embedding touches one row per token, not the whole table.
  CHECK(model.segments[0].forward_flops == 0);
  CHECK(model.segments[0].forward_bytes == 4 * (8 + 8 * 8 + 4 * 8 + 8 * 8));
}

TEST_CASE("every attention head spans all of qkv") {
  // Two samples of 4 tokens, width 8, fp32: qkv is 8·24. Each of two tensor ranks has half of the heads and of qkv's
  // rows.
  Scenario s = scenario_of(gpt(1, 8, 2, 4, 16), 2);
  CHECK(make_model(s).segment(0, Segment::attention).walked_bytes == 2 * 4 * 8 * 24);
  CHECK(make_model(s).segment(0, Segment::qkv).walked_bytes == 0);
  s.plan.tensor = 2;
  CHECK(make_model(s).segment(0, Segment::attention).walked_bytes == 1 * 4 * 8 * 12);
}

TEST_CASE("attention's backward costs twice its forward, and it has no weight gradient") {
  const Model model = make_model(scenario_of(gpt(1, 8, 2, 4, 16), 2));
  const SegmentSpec& attention = model.segments[2];
  REQUIRE(attention.kind == Segment::attention);
  CHECK(attention.forward_flops == 2 * (2.0 * 8 * 4 * 8));
  CHECK(attention.input_gradient_flops == 2 * attention.forward_flops);
  CHECK(attention.weight_gradient_flops == 0);
  CHECK(step_flops(attention) == 3 * attention.forward_flops);
}

TEST_CASE("a split by cost has the least greatest cost of all splits, and a head that weighs nothing leaves it even") {
  const auto flops = [](const Model& model, int first, int last) {
    double sum = 0;
    for (int i = first; i < last; ++i) {
      const SegmentSpec& s = model.segments[static_cast<std::size_t>(i)];
      sum += s.forward_flops + s.input_gradient_flops + s.weight_gradient_flops;
    }
    return sum;
  };
  const auto greatest = [&](const Model& model, const std::vector<int>& first) {
    double most = 0;
    for (std::size_t c = 0; c + 1 < first.size(); ++c) most = std::max(most, flops(model, first[c], first[c + 1]));
    return most;
  };
  for (const int vocabulary : {2, 60, 300, 2000})
    for (int layers = 3; layers <= 9; ++layers) {
      const Model model = make_model(scenario_of(gpt(layers, 8, 2, 4, vocabulary)));
      CAPTURE(vocabulary, layers);
      double least = 1e30;  // by trying all splits into three
      for (int a = 1; a + 2 <= layers; ++a)
        for (int b = 1; a + b + 1 <= layers; ++b)
          least = std::min(least, greatest(model, {0, 1 + 5 * a, 1 + 5 * (a + b), 5 * layers + 2}));
      CHECK(greatest(model, split_by_cost(model, 3)) == Approx(least));
    }
  const Model light = make_model(scenario_of(gpt(8, 8, 2, 4, 2)));
  CHECK(split_by_cost(light, 4) == split_evenly(light, 4));
  CHECK(split_by_cost(light, 1) == split_evenly(light, 1));
  // GPT-2's head costs as much as several of its blocks: 50257·h and 12h² + 2sh with h = 768 and s = 1024.
  const Model gpt2 = make_model(scenario_of(gpt(12, 768, 12, 1024, 50257)));
  CHECK(split_by_cost(gpt2, 4) == std::vector<int>{0, 21, 41, 56, 62});  // 4, 4, 3 and 1 blocks
}

TEST_CASE("blocks are split as evenly as they can be, with the embedding first and the head last") {
  for (int layers = 1; layers <= 17; ++layers) {
    const Model model = make_model(scenario_of(gpt(layers, 8, 2, 4, 16)));
    for (int chunks = 1; chunks <= layers; ++chunks) {
      INFO(layers << " layers in " << chunks << " chunks");
      const std::vector<int> first = split_evenly(model, chunks);
      REQUIRE(static_cast<int>(first.size()) == chunks + 1);
      CHECK(first.front() == 0);
      CHECK(first.back() == static_cast<int>(model.segments.size()));
      int previous = layers;
      for (int c = 0; c < chunks; ++c) {
        std::set<int> blocks;
        for (int i = first[c]; i < first[c + 1]; ++i)
          if (model.segments[i].block >= 0) blocks.insert(model.segments[i].block);
        const int count = static_cast<int>(blocks.size());
        CHECK((count == layers / chunks || count == layers / chunks + 1));
        CHECK(count <= previous);  // the first chunks get the extra blocks
        previous = count;
        // No chunk begins inside a block.
        if (c > 0) CHECK(model.segments[first[c]].kind == Segment::qkv);
      }
    }
    CHECK_THROWS_AS(split_evenly(model, layers + 1), std::invalid_argument);
  }
  const Model model = make_model(scenario_of(gpt(8, 8, 2, 4, 16)));
  CHECK(split_evenly(model, 3) == std::vector<int>{0, 16, 31, 42});  // 3, 3 and 2 blocks of five segments
}
