// The gradients of a whole model: compared with finite differences in fp64, over micro-batches, and bf16 with fp32.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "kernels/cpu/cpu.hpp"
#include "kernels/tensor/element.hpp"
#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/comparison.hpp"
#include "tests/engine/execute/layers/hand_laid.hpp"
#include "tests/engine/execute/layers/slope.hpp"
#include "tests/kernels/cpu/threads.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

/// The kinds of transformers, each with what makes it differ: a llama has grouped queries, and no dropout.
struct Kind {
  const char* name;
  double dropout;
  int width = 24, heads = 3, key_value_heads = 0;
};
constexpr Kind gpt{"gpt", 0}, dropped_gpt{"gpt", 0.2}, llama{"llama", 0, 24, 6, 2},
    ungrouped_llama{"llama", 0, 24, 3, 3};

Scenario small_scenario(bool tied, const Kind& kind, const char* precision, int samples = 2) {
  Scenario scenario;
  scenario.model = {.kind = kind.name,
                    .layers = 2,
                    .width = kind.width,
                    .heads = kind.heads,
                    .context = 7,
                    .vocabulary = 15,
                    .tied = tied,
                    .dropout = kind.dropout,
                    .key_value_heads = kind.key_value_heads,
                    .inner = 20,
                    .rope_theta = 10,
                    .norm_epsilon = 1e-3};
  scenario.train.global_batch = samples;
  scenario.plan.precision = precision;
  return scenario;
}

LaunchContext context_of(const Model& model) {
  return {.step = 2, .seed = 99, .first_sample = 4, .global_tokens = model.tokens()};
}

/// Makes weights much larger than initial ones, so that every term of the gradient is significant.
void enlarge(HandLaid& rank) {
  for (std::size_t p = 0; p < rank.model().parameters.size(); ++p) {
    const View view = rank.parameter(static_cast<int>(p));
    for (std::int64_t i = 0; i < view.elements(); ++i)
      set_element(view, i, element(view, i) + 0.3 * (2 * uniform(5, p, static_cast<std::uint64_t>(i)) - 1));
  }
}

/// GELU, which lies between the tensor whose gradient `down` passes back and the input that `down` reads.
void apply_gelu(View y, View x) {
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const double v = x.as<double>()[i];
    y.as<double>()[i] = 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
  }
}

/// The same of a llama: rows of gate and up.
void apply_swiglu(View y, View x) {
  const std::int64_t width = y.shape[1];
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    const double* gate = x.as<double>() + i / width * 2 * width + i % width;
    y.as<double>()[i] = gate[0] / (1 + std::exp(-gate[0])) * gate[width];
  }
}

std::vector<double> values_of(const View& view) {
  std::vector<double> values(static_cast<std::size_t>(view.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(view, static_cast<std::int64_t>(i));
  return values;
}

double frobenius(const View& actual, const View& expected) {
  return frobenius_error(values_of(actual), values_of(expected));
}

}  // namespace

TEST_CASE("the gradient of every parameter is the slope of the mean loss, tied and untied, with and without dropout") {
  const bool tied = GENERATE(true, false);
  const Kind kind = GENERATE(gpt, dropped_gpt, llama, ungrouped_llama);
  HandLaid rank(make_model(small_scenario(tied, kind, "fp64")), kernels::cpu_kernels(), 1, true);
  enlarge(rank);
  const Batch batch = random_batch(rank.model().tokens(), 15, 3);
  rank.set_batch(batch.tokens, batch.targets);
  const LaunchContext context = context_of(rank.model());
  const auto mean_loss = [&] { return rank.forward(context) / static_cast<double>(context.global_tokens); };
  mean_loss();
  rank.backward(context, false);
  for (std::size_t p = 0; p < rank.model().parameters.size(); ++p) {
    INFO(rank.model().parameters[p].name << " of a " << kind.name << ", tied " << tied << ", dropout " << kind.dropout);
    check_gradient(rank.parameter(static_cast<int>(p)), rank.gradient(static_cast<int>(p)), mean_loss);
  }
}

TEST_CASE("the gradient that each segment passes back is the slope of the mean loss in its input") {
  const Kind kind = GENERATE(gpt, dropped_gpt, llama, ungrouped_llama);
  HandLaid rank(make_model(small_scenario(true, kind, "fp64")), kernels::cpu_kernels(), 1, true);
  enlarge(rank);
  const Batch batch = random_batch(rank.model().tokens(), 15, 3);
  rank.set_batch(batch.tokens, batch.targets);
  const LaunchContext context = context_of(rank.model());
  rank.forward(context);
  rank.backward(context, false);
  const Model& model = rank.model();
  for (std::size_t s = 0; s < model.segments.size(); ++s) {
    const SegmentSpec& segment = model.segments[s];
    if (segment.gradient_outputs.empty()) continue;
    const TensorName name = segment.gradient_outputs.front();
    INFO("input of segment " << s << ", " << name_of(segment.kind) << " of block " << segment.block << ", " << kind.name
                             << " with dropout " << kind.dropout);
    const auto rest = [&] {
      if (name == TensorName::pre_gelu)
        apply_gelu(rank.activation(segment, TensorName::activated), rank.activation(segment, name));
      if (name == TensorName::gate_up)
        apply_swiglu(rank.activation(segment, TensorName::activated), rank.activation(segment, name));
      rank.forward(context, s, model.segments.size());
      return *rank.activation(model.segments.back(), TensorName::loss).as<double>() /
             static_cast<double>(context.global_tokens);
    };
    rank.forward(context);  // restores the activations that the last check changed
    check_gradient(rank.activation(segment, name), rank.activation_gradient(segment, name), rest);
  }
}

TEST_CASE("micro-batches that add their gradients give the gradient of the whole batch, with dropout") {
  const auto kernels = kernels::cpu_kernels();
  HandLaid whole(make_model(small_scenario(true, dropped_gpt, "fp64", 4)), kernels, 1, false);
  HandLaid part(make_model(small_scenario(true, dropped_gpt, "fp64", 2)), kernels, 1, false);
  const Batch batch = random_batch(whole.model().tokens(), 15, 3);
  whole.set_batch(batch.tokens, batch.targets);
  LaunchContext context = context_of(whole.model());
  const double loss = whole.forward(context);
  whole.backward(context, false);
  double sum = 0;
  const auto half = static_cast<std::size_t>(part.model().tokens());
  for (std::size_t m = 0; m < 2; ++m) {
    part.set_batch(std::span(batch.tokens).subspan(m * half, half), std::span(batch.targets).subspan(m * half, half));
    LaunchContext micro = context;
    micro.first_sample += static_cast<std::int64_t>(2 * m);
    sum += part.forward(micro);
    part.backward(micro, m > 0);
  }
  CHECK(sum == Approx(loss).epsilon(1e-13));
  for (std::size_t p = 0; p < whole.model().parameters.size(); ++p) {
    INFO(whole.model().parameters[p].name);
    CHECK(frobenius(part.gradient(static_cast<int>(p)), whole.gradient(static_cast<int>(p))) < 1e-12);
  }
}

namespace {

constexpr std::int64_t few_logits = 3 * 15;  // three rows of the small model's

/// The largest matrix of logits for which a product was prepared, as rows times columns.
std::int64_t greatest_logits = 0;

template <auto op>
auto watched(const kernels::LinearSpec& spec, const kernels::Options& options) {
  if (spec.out == 15) greatest_logits = std::max(greatest_logits, spec.rows * spec.out);
  return (kernels::cpu_kernels().*op).make(spec, options);
}

}  // namespace

TEST_CASE("logits are computed some rows at a time, and so are their gradients, where a product would be too great") {
  const char* precision = GENERATE("fp64", "bf16");
  using kernels::KernelSet;
  KernelSet divided_kernels = kernels::cpu_kernels();
  divided_kernels.options.product_elements = few_logits;
  divided_kernels.linear_forward.make = watched<&KernelSet::linear_forward>;
  divided_kernels.linear_input_gradient.make = watched<&KernelSet::linear_input_gradient>;
  divided_kernels.linear_weight_gradient.make = watched<&KernelSet::linear_weight_gradient>;
  HandLaid whole(make_model(small_scenario(true, dropped_gpt, precision)), kernels::cpu_kernels(), 1, true);
  greatest_logits = 0;
  HandLaid divided(make_model(small_scenario(true, dropped_gpt, precision)), divided_kernels, 1, true);
  CHECK(greatest_logits == few_logits);
  const Batch batch = random_batch(whole.model().tokens(), 15, 3);
  const LaunchContext context = context_of(whole.model());
  double loss[2];
  for (HandLaid* rank : {&whole, &divided}) {
    rank->set_batch(batch.tokens, batch.targets);
    loss[rank == &divided] = rank->forward(context);
    for (const bool add : {false, true}) rank->backward(context, add);
  }
  const bool exact = std::string(precision) == "fp64";
  CHECK(loss[1] == Approx(loss[0]).epsilon(exact ? 1e-13 : 1e-5));
  for (std::size_t p = 0; p < whole.model().parameters.size(); ++p) {
    INFO(whole.model().parameters[p].name << " in " << precision);
    CHECK(frobenius(divided.gradient(static_cast<int>(p)), whole.gradient(static_cast<int>(p))) <
          (exact ? 1e-12 : 1e-2));
  }
}

TEST_CASE(
    "narrow logits are stored where their gradient will be, and move the loss of a bf16 model by rounding alone") {
  using kernels::KernelSet;
  static DType product, softmax;
  KernelSet watching = kernels::cpu_kernels();
  watching.linear_forward.make = [](const kernels::LinearSpec& spec, const kernels::Options& options) {
    if (spec.out == 15) product = spec.result_type;
    return kernels::cpu_kernels().linear_forward.make(spec, options);
  };
  watching.cross_entropy.make = [](const kernels::CrossEntropySpec& spec, const kernels::Options& options) {
    softmax = spec.logits_type;
    return kernels::cpu_kernels().cross_entropy.make(spec, options);
  };
  const auto rank_with = [&](const char* precision, LogitsType logits) {
    Scenario scenario = small_scenario(true, gpt, precision, 4);
    scenario.plan.logits = logits;
    return HandLaid(make_model(scenario), watching, 1, false);
  };
  HandLaid wide = rank_with("bf16", LogitsType::wide);
  CHECK(product == DType::f32);
  CHECK(softmax == DType::f32);
  HandLaid narrow = rank_with("bf16", LogitsType::narrow);
  CHECK(product == DType::bf16);
  CHECK(softmax == DType::bf16);
  const Batch batch = random_batch(wide.model().tokens(), 15, 3);
  const LaunchContext context = context_of(wide.model());
  double losses[2];
  int next = 0;
  for (HandLaid* rank : {&wide, &narrow}) {
    enlarge(*rank);
    rank->set_batch(batch.tokens, batch.targets);
    losses[next++] = rank->forward(context);
    rank->backward(context, false);
  }
  CHECK(losses[1] == Approx(losses[0]).epsilon(2e-3));
  CHECK(losses[1] != losses[0]);
  for (std::size_t p = 0; p < wide.model().parameters.size(); ++p) {
    INFO(wide.model().parameters[p].name);
    CHECK(frobenius(narrow.gradient(static_cast<int>(p)), wide.gradient(static_cast<int>(p))) < 0.05);
  }
  rank_with("fp32", LogitsType::narrow);  // a single type for both
  CHECK(softmax == DType::f32);
}

TEST_CASE("the same launch twice gives the same bits, on one thread and on two") {
  const char* precision = GENERATE("fp64", "fp32", "bf16");
  const Kind kind = GENERATE(dropped_gpt, llama);
  kernels::Options options;
  options.threads = GENERATE(range(1, kernels::test::most_threads + 1));
  HandLaid rank(make_model(small_scenario(true, kind, precision)), kernels::cpu_kernels(options), 1, false);
  const Batch batch = random_batch(rank.model().tokens(), 15, 3);
  rank.set_batch(batch.tokens, batch.targets);
  const LaunchContext context = context_of(rank.model());
  std::vector<std::vector<std::byte>> first;
  for (int repetition = 0; repetition < 2; ++repetition) {
    rank.forward(context);
    rank.backward(context, false);
    for (std::size_t p = 0; p < rank.model().parameters.size(); ++p) {
      const View gradient = rank.gradient(static_cast<int>(p));
      std::vector<std::byte> bits(gradient.as<std::byte>(), gradient.as<std::byte>() + gradient.bytes());
      if (repetition == 0)
        first.push_back(std::move(bits));
      else
        CHECK(bits == first[p]);
    }
  }
}

TEST_CASE("a backward in two halves gives the whole one's bits, with dropout, written and added, tied and untied") {
  const char* precision = GENERATE("fp64", "fp32", "bf16");
  const bool tied = GENERATE(true, false);
  const Kind kind = GENERATE(dropped_gpt, llama);
  HandLaid rank(make_model(small_scenario(tied, kind, precision)), kernels::cpu_kernels(), 1, true);
  const Batch batch = random_batch(rank.model().tokens(), 15, 3);
  rank.set_batch(batch.tokens, batch.targets);
  const LaunchContext context = context_of(rank.model());
  rank.forward(context);
  const auto gradients = [&] {
    std::vector<std::vector<std::byte>> bits;
    for (std::size_t p = 0; p < rank.model().parameters.size(); ++p) {
      const View gradient = rank.gradient(static_cast<int>(p));
      bits.emplace_back(gradient.as<std::byte>(), gradient.as<std::byte>() + gradient.bytes());
    }
    return bits;
  };
  std::vector<std::vector<std::byte>> whole[2], halves[2];
  for (const bool add : {false, true}) {
    rank.backward(context, add);
    whole[add] = gradients();
  }
  for (const bool add : {false, true}) {
    for (std::size_t p = 0; !add && p < rank.model().parameters.size(); ++p)
      std::memset(rank.gradient(static_cast<int>(p)).data, 0xFF,
                  static_cast<std::size_t>(rank.gradient(static_cast<int>(p)).bytes()));
    rank.split_backward(context, add);
    halves[add] = gradients();
  }
  for (std::size_t p = 0; p < rank.model().parameters.size(); ++p) {
    INFO(rank.model().parameters[p].name << " in " << precision);
    CHECK(halves[0][p] == whole[0][p]);
    CHECK(halves[1][p] == whole[1][p]);
  }
}

TEST_CASE("ranks that compute at the same time do not disturb each other") {
  const char* precision = GENERATE("fp64", "fp32", "bf16");
  const auto kernels = kernels::cpu_kernels();
  std::vector<std::unique_ptr<HandLaid>> ranks;
  for (int r = 0; r < 3; ++r)
    ranks.push_back(
        std::make_unique<HandLaid>(make_model(small_scenario(true, dropped_gpt, precision)), kernels, 1, false));
  const Batch batch = random_batch(ranks[0]->model().tokens(), 15, 3);
  const LaunchContext context = context_of(ranks[0]->model());
  const auto train = [&](HandLaid& rank) {
    rank.set_batch(batch.tokens, batch.targets);
    for (int repetition = 0; repetition < 20; ++repetition) {
      rank.forward(context);
      rank.backward(context, repetition > 0);
    }
  };
  train(*ranks[0]);  // without the others
  std::thread first([&] { train(*ranks[1]); }), second([&] { train(*ranks[2]); });
  first.join();
  second.join();
  for (std::size_t p = 0; p < ranks[0]->model().parameters.size(); ++p) {
    INFO(ranks[0]->model().parameters[p].name << " in " << precision);
    const View alone = ranks[0]->gradient(static_cast<int>(p));
    for (int r : {1, 2})
      CHECK(std::memcmp(ranks[r]->gradient(static_cast<int>(p)).data, alone.data,
                        static_cast<std::size_t>(alone.bytes())) == 0);
  }
}

TEST_CASE("bf16 follows fp32: the loss within 0.2%, every gradient within 5% of its norm") {
  const Kind kind = GENERATE(gpt, dropped_gpt, llama);
  const auto kernels = kernels::cpu_kernels();
  HandLaid narrow(make_model(small_scenario(false, kind, "bf16", 4)), kernels, 1, false);
  HandLaid wide(make_model(small_scenario(false, kind, "fp32", 4)), kernels, 1, false);
  // The same weights: fp32 uses the rounded ones.
  for (std::size_t p = 0; p < wide.model().parameters.size(); ++p) {
    const View from = narrow.parameter(static_cast<int>(p)), to = wide.parameter(static_cast<int>(p));
    for (std::int64_t i = 0; i < from.elements(); ++i)
      to.as<float>()[i] = std::bit_cast<float>(std::uint32_t{from.as<std::uint16_t>()[i]} << 16);
  }
  const Batch batch = random_batch(wide.model().tokens(), 15, 3);
  const LaunchContext context = context_of(wide.model());
  double losses[2];
  int next = 0;
  for (HandLaid* rank : {&narrow, &wide}) {
    rank->set_batch(batch.tokens, batch.targets);
    losses[next++] = rank->forward(context);
    rank->backward(context, false);
  }
  CHECK(losses[0] == Approx(losses[1]).epsilon(2e-3));
  CHECK(losses[0] != losses[1]);
  double loudest = 0;
  for (std::size_t p = 0; p < wide.model().parameters.size(); ++p) {
    INFO(wide.model().parameters[p].name);
    const double d = frobenius(narrow.gradient(static_cast<int>(p)), wide.gradient(static_cast<int>(p)));
    loudest = std::max(loudest, d);
    CHECK(d < 0.05);
  }
  CHECK(loudest > 1e-4);  // it was indeed bf16
}
