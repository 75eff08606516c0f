#include "engine/execute/optimizer/optimizer.hpp"

#include <bit>
#include <cmath>
#include <map>

#include "kernels/cpu/cpu.hpp"
#include "kernels/update.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/layers/hand_laid.hpp"
#include "tests/engine/execute/optimizer/optimizer_states.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

TrainSpec train_of(const char* optimizer) {
  TrainSpec train;
  train.optimizer = optimizer;
  train.learning_rate = 0.01;
  train.hyper.weight_decay = 0.1;
  return train;
}

std::string names_of(const std::vector<StateSpec>& states) {
  std::string names;
  for (const StateSpec& state : states) names += state.name + ":" + std::string(name_of(state.type)) + " ";
  return names;
}

}  // namespace

TEST_CASE("an optimizer's states are those of its recipe: 18 bytes a parameter in bf16 with AdamW") {
  const auto names = [](const char* optimizer, DType type, Shape shape = {64, 128}) {
    return names_of(optimizer_states(train_of(optimizer), type, shape));
  };
  CHECK(names("sgd", DType::f32) == "");
  CHECK(names("sgd", DType::bf16) == "master:fp32 ");
  CHECK(names("momentum", DType::f32) == "b:fp32 ");
  CHECK(names("adagrad", DType::bf16) == "master:fp32 s:fp32 ");
  for (const char* optimizer : {"adam", "adamw", "radam"}) {
    CHECK(names(optimizer, DType::f32) == "m:fp32 v:fp32 ");
    CHECK(names(optimizer, DType::f64) == "m:fp64 v:fp64 ");
  }
  CHECK(names("sophia", DType::f32) == "m:fp32 h:fp32 ");
  CHECK(names("lars", DType::f32) == "b:fp32 ");
  CHECK(names("lamb", DType::bf16) == "master:fp32 m:fp32 v:fp32 ");
  CHECK(names("adafactor", DType::f32) == "row:fp32 column:fp32 ");
  CHECK(names("adafactor", DType::bf16, {128}) == "master:fp32 v:fp32 ");
  CHECK(names("adam8bit", DType::f32) == "m:u8 v:u8 m_scale:fp32 v_scale:fp32 ");
  CHECK(names("adam8bit", DType::f32, {4095}) == "m:fp32 v:fp32 ");
  const auto states = optimizer_states(train_of("adamw"), DType::bf16, {10});
  CHECK(names_of(states) == "master:fp32 m:fp32 v:fp32 ");
  std::int64_t bytes = bytes_of(DType::bf16) + bytes_of(accumulation_type(DType::bf16));
  for (const StateSpec& state : states) bytes += bytes_of(state.type);
  CHECK(bytes == 18);
  CHECK_THROWS_WITH(optimizer_states(train_of("adamax"), DType::f32, {1}), ContainsText("unknown optimizer 'adamax'"));
}

TEST_CASE("bytes of the states of a matrix of 1000 by 1000 in fp32") {
  struct Row {
    const char* optimizer;
    std::int64_t bytes;
  };
  const std::int64_t n = 1'000'000, blocks = 3907;  // 256·3906 is 999,936
  for (const Row& row :
       {Row{"sgd", 0}, Row{"momentum", 4 * n}, Row{"adagrad", 4 * n}, Row{"adam", 8 * n}, Row{"adamw", 8 * n},
        Row{"radam", 8 * n}, Row{"adafactor", 4 * 2000}, Row{"adam8bit", 2 * n + 2 * 4 * blocks}, Row{"sophia", 8 * n},
        Row{"lars", 4 * n}, Row{"lamb", 8 * n}}) {
    std::int64_t bytes = 0;
    for (const StateSpec& state : optimizer_states(train_of(row.optimizer), DType::f32, {1000, 1000}))
      bytes += state.shape.elements() * bytes_of(state.type);
    INFO(row.optimizer);
    CHECK(bytes == row.bytes);
  }
}

TEST_CASE("the clip coefficient shrinks a norm to the bound and never enlarges one") {
  CHECK(kernels::clip_coefficient(100, 0) == 1);
  CHECK(kernels::clip_coefficient(100, 20) == 1);
  CHECK(kernels::clip_coefficient(100, 1) == Approx(0.1).epsilon(1e-6));
}

TEST_CASE("the square norm sums the squares of all gradients in fp64") {
  std::vector<float> a(20000, 1.0f / 3), b{3, 4};
  const View views[] = {{a.data(), DType::f32, {20000}}, {b.data(), DType::f32, {2}}};
  const double n_roundings = 20000 * 0x1p-53;  // a bound for any order of the sum: the order depends on the CPU
  Workspace workspace;
  double out = -1;
  const Launch launch = bind_square_norm(views, &out, kernels::cpu_kernels(), workspace);
  workspace.reserve();
  launch({});
  CHECK(out == Approx(20000 * static_cast<double>(a[0]) * a[0] + 25).epsilon(n_roundings));
  launch({});
  CHECK(out == Approx(20000 * static_cast<double>(a[0]) * a[0] + 25).epsilon(n_roundings));
}

TEST_CASE("AdamW by its equations over five steps, with a clip coefficient that changes and decay where it applies") {
  TrainSpec train = train_of("adamw");
  const double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  train.hyper.beta2 = beta2;
  double p[2] = {1, 1}, g[2], m[2] = {}, v[2] = {}, clip = 1;
  double expected[2] = {1, 1}, ms[2] = {}, vs[2] = {};
  std::vector<UpdateOperands> operands;
  for (int i = 0; i < 2; ++i)
    operands.push_back({{p + i, DType::f64, {1}},
                        {g + i, DType::f64, {1}},
                        {{m + i, DType::f64, {1}}, {v + i, DType::f64, {1}}},
                        i == 0});
  Workspace workspace;
  const Launch launch = bind_update(train, operands, &clip, kernels::cpu_kernels(), workspace);
  workspace.reserve();
  for (int step = 0; step < 5; ++step) {
    clip = 1.0 / (1 + step);
    for (int i = 0; i < 2; ++i) {
      g[i] = 0.3 + 0.1 * step - i;
      const double gradient = clip * g[i];
      ms[i] = beta1 * ms[i] + (1 - beta1) * gradient;
      vs[i] = beta2 * vs[i] + (1 - beta2) * gradient * gradient;
      const double mean = ms[i] / (1 - std::pow(beta1, step + 1));
      const double square = vs[i] / (1 - std::pow(beta2, step + 1));
      if (i == 0)
        expected[i] -= 0.01 * 0.1 * expected[i];
      else
        expected[i] -= 0;
      // Decay is applied first: it scales the old value, not the Adam term.
      expected[i] -= 0.01 * mean / (std::sqrt(square) + epsilon);
    }
    launch({.step = static_cast<std::uint64_t>(step)});
    for (int i = 0; i < 2; ++i) CHECK(p[i] == Approx(expected[i]).epsilon(1e-13));
  }
}

TEST_CASE("a bf16 parameter follows its fp32 master: steps too small for bf16 are not lost") {
  const TrainSpec train = [] {
    TrainSpec t;
    t.optimizer = "sgd";
    t.learning_rate = 1e-3;
    return t;
  }();
  std::uint16_t p = 0x3F80;  // 1
  float master = 1, g = 1;
  const UpdateOperands operands[] = {{{&p, DType::bf16, {1}}, {&g, DType::f32, {1}}, {{&master, DType::f32, {1}}}}};
  Workspace workspace;
  const Launch launch = bind_update(train, operands, nullptr, kernels::cpu_kernels(), workspace);
  workspace.reserve();
  launch({});
  CHECK(p == 0x3F80);  // 0.999 rounds to 1 in bf16: the next lower value is 0.99609
  for (int i = 1; i < 10; ++i) launch({});
  CHECK(master == Approx(0.99).epsilon(1e-5));
  CHECK(std::bit_cast<float>(std::uint32_t{p} << 16) == Approx(0.99).margin(0.002));
}

TEST_CASE("an update without a state that it needs is refused") {
  float p = 1, g = 1;
  std::uint16_t half = 0;
  Workspace workspace;
  const auto bind = [&](const char* optimizer, UpdateOperands operands) {
    bind_update(train_of(optimizer), {&operands, 1}, nullptr, kernels::cpu_kernels(), workspace);
  };
  const View parameter{&p, DType::f32, {1}}, gradient{&g, DType::f32, {1}};
  CHECK_NOTHROW(bind("sgd", {parameter, gradient}));
  CHECK_THROWS_WITH(bind("adamw", {parameter, gradient}), ContainsText("needs a m in fp32 of 1 elements"));
  CHECK_THROWS_WITH(bind("sgd", {{&half, DType::bf16, {1}}, gradient}), ContainsText("master"));
  CHECK_THROWS_WITH(bind("sgd", {parameter, {&half, DType::bf16, {1}}}), ContainsText("gradient"));
}

TEST_CASE("a small model memorises a batch, in every type and with every optimizer") {
  const char* precision = GENERATE("fp64", "fp32", "bf16");
  const std::string optimizer = GENERATE(from_range(optimizer_names()));
  Scenario scenario;
  scenario.model = {
      .kind = "gpt", .layers = 2, .width = 32, .heads = 2, .context = 8, .vocabulary = 16, .tied = true, .dropout = 0};
  scenario.train.global_batch = 2;
  scenario.train.optimizer = optimizer;
  // A step with a normalised gradient has the size of the rate; with a raw gradient, rate times a small gradient.
  const std::map<std::string, double> rates{{"sgd", 0.5},       {"momentum", 0.1}, {"adagrad", 0.05},
                                            {"adafactor", 0.1}, {"sophia", 3e-3},  {"lars", 0.1}};
  scenario.train.learning_rate = rates.contains(optimizer) ? rates.at(optimizer) : 1e-2;
  if (optimizer == "radam") scenario.train.hyper.beta2 = 0.95;  // otherwise the first steps are not rectified, and tiny
  if (optimizer == "lars") scenario.train.hyper.trust = 0.1;    // the default is for much higher rates
  scenario.plan.precision = precision;
  const auto kernels = kernels::cpu_kernels();
  HandLaid rank(make_model(scenario), kernels, 1, false);
  const Model& model = rank.model();

  std::vector<std::vector<double>> states;
  std::vector<UpdateOperands> operands;
  std::vector<View> gradients;
  for (std::size_t p = 0; p < model.parameters.size(); ++p) {
    UpdateOperands operand{rank.parameter(static_cast<int>(p)), rank.gradient(static_cast<int>(p)), {}, false};
    for (const StateSpec& state : optimizer_states(scenario.train, model.type, operand.parameter.shape)) {
      states.emplace_back(static_cast<std::size_t>(operand.parameter.elements()));
      const View view{states.back().data(), state.type, state.shape};
      operand.states.push_back(view);
      if (state.name == "master") {
        for (std::int64_t i = 0; i < view.elements(); ++i)
          view.as<float>()[i] = std::bit_cast<float>(std::uint32_t{operand.parameter.as<std::uint16_t>()[i]} << 16);
      }
    }
    operands.push_back(operand);
    gradients.push_back(operand.gradient);
  }
  double square = 0, clip = 1;
  Workspace workspace;
  const Launch norm = bind_square_norm(gradients, &square, kernels, workspace);
  const Launch update = bind_update(scenario.train, operands, &clip, kernels, workspace);
  workspace.reserve();

  const Batch batch = random_batch(model.tokens(), 16, 3);
  rank.set_batch(batch.tokens, batch.targets);
  double first = 0, last = 0;
  for (std::uint64_t step = 0; step < 100; ++step) {
    const LaunchContext context{.step = step, .global_tokens = model.tokens()};
    last = rank.forward(context) / static_cast<double>(model.tokens());
    if (step == 0) first = last;
    rank.backward(context, false);
    norm(context);
    clip = kernels::clip_coefficient(square, 1.0);
    update(context);
  }
  INFO(precision << " " << optimizer << ": " << first << " -> " << last);
  CHECK(first == Approx(std::log(16.0)).epsilon(0.05));
  CHECK(last < 0.2 * first);
}
