// Compares 20 steps of each optimizer on two tensors with PyTorch (and for Adafactor, Sophia, LARS and LAMB with the
// papers' equations): reference.py wrote reference.txt, and this test does the same steps with the bound updates.
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "engine/execute/optimizer/optimizer.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "kernels/cpu/cpu.hpp"
#include "tests/catch.hpp"
#include "tests/comparison.hpp"
#include "tests/engine/execute/optimizer/optimizer_states.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

using Values = std::vector<double>;

struct Case {
  std::string name, optimizer;
  std::vector<std::string> options;                    ///< key=value
  std::map<int, std::map<std::string, Values>> after;  ///< step, tensor
};

std::vector<Case> read_cases() {
  std::ifstream file(test::source_folder() + "/tests/engine/execute/optimizer/reference.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "case") {
      Case& c = cases.emplace_back();
      words >> c.name >> c.optimizer;
      for (std::string option; words >> option;) c.options.push_back(option);
    } else if (kind == "step") {
      int step = 0;
      std::string tensor;
      words >> step >> tensor;
      Values& values = cases.back().after[step][tensor];
      for (double value = 0; words >> value;) values.push_back(value);
    }
  }
  return cases;
}

void set(Scenario& scenario, const std::string& option) {
  const std::size_t equals = option.find('=');
  const std::string value = option.substr(equals + 1);
  const Key* key = find_key("train." + option.substr(0, equals));
  REQUIRE(key != nullptr);
  const Field field = key->field(scenario);
  if (const auto* d = std::get_if<std::optional<double>*>(&field))
    **d = std::stod(value);
  else if (const auto* i = std::get_if<std::optional<int>*>(&field))
    **i = std::stoi(value);
  else if (const auto* b = std::get_if<std::optional<bool>*>(&field))
    **b = value == "true";
  else
    FAIL(option);
}

double initial(int i) { return (53 * i + 7) % 97 / 64.0 - 0.75; }
double gradient(int i, int t) { return (37 * i + 101 * t + 13 * i * i * t) % 1009 / 512.0 - 1; }

/// A parameter in fp64 with its gradient and states.
struct Tensor {
  std::string name;
  Shape shape;
  Values parameter, gradient;
  std::vector<std::vector<std::byte>> states;
  UpdateOperands operands;

  Tensor(std::string its_name, Shape its_shape, const TrainSpec& train) : name(std::move(its_name)), shape(its_shape) {
    const auto n = static_cast<std::size_t>(shape.elements());
    for (std::size_t i = 0; i < n; ++i) parameter.push_back(initial(static_cast<int>(i)));
    gradient.resize(n);
    operands.parameter = {parameter.data(), DType::f64, shape};
    operands.gradient = {gradient.data(), DType::f64, shape};
    operands.decay = shape.rank == 2;
    for (const StateSpec& state : optimizer_states(train, DType::f64, shape)) {
      states.emplace_back(static_cast<std::size_t>(state.shape.elements() * bytes_of(state.type)));
      operands.states.push_back({states.back().data(), state.type, state.shape});
    }
  }
  void set_gradient(int t, double factor) {
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = factor * ::gradient(static_cast<int>(i), t);
  }
};

}  // namespace

TEST_CASE("twenty steps of every optimizer give the results of PyTorch or the paper's equations within 1e-12") {
  const std::vector<Case> cases = read_cases();
  CHECK(cases.size() == 29);
  // Gradients four times as large with a clip coefficient of 1/4 give the same training, bit for bit.
  const double clip = GENERATE(1.0, 0.25);
  const std::string instruction_set = GENERATE(std::string("x86-64-v2"), std::string());
  const auto kernels = kernels::cpu_kernels({.threads = 1, .instruction_set = instruction_set});
  for (const Case& c : cases) {
    Scenario scenario;
    scenario.train.optimizer = c.optimizer;
    scenario.train.learning_rate = 0.05;
    for (const std::string& option : c.options) set(scenario, option);
    Tensor matrix("matrix", {5, 6}, scenario.train), vector("vector", {7}, scenario.train);
    const UpdateOperands operands[] = {matrix.operands, vector.operands};
    Workspace workspace;
    const Launch update = bind_update(scenario.train, operands, &clip, kernels, workspace);
    workspace.reserve();
    std::size_t compared = 0;
    for (int t = 1; t <= 20; ++t) {
      for (Tensor* tensor : {&matrix, &vector}) tensor->set_gradient(t, 1 / clip);
      update({.step = static_cast<std::uint64_t>(t - 1), .global_tokens = 4});
      if (!c.after.contains(t)) continue;
      for (const Tensor* tensor : {&matrix, &vector}) {
        INFO(c.name << ", step " << t << ", " << tensor->name);
        CHECK(test::largest_relative_error(tensor->parameter, c.after.at(t).at(tensor->name)) < 1e-12);
        ++compared;
      }
    }
    CHECK(compared == 6);
  }
}

TEST_CASE("every optimizer is compared with a reference, except 8-bit Adam, which has its own tests") {
  const std::vector<Case> cases = read_cases();
  for (const std::string& name : optimizer_names()) {
    const bool there = std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return c.optimizer == name; });
    INFO(name);
    CHECK(there == (name != "adam8bit"));
  }
}

TEST_CASE("an elementwise optimizer gives the same bits when a tensor is cut anywhere") {
  const std::string optimizer = GENERATE(from_range(optimizer_names()));
  const OptimizerRule& rule = optimizer_rule(optimizer);
  if (rule.grain == 0) return;  // it cannot be cut
  const std::int64_t n = 4096 + 300, cut = rule.grain == 1 ? 1237 : rule.grain * 5;
  const auto kernels = kernels::cpu_kernels();
  TrainSpec train;
  train.optimizer = optimizer;
  train.learning_rate = 0.05;
  train.hyper.weight_decay = 0.1;

  // The same elements, updated as one piece and as two.
  const auto run = [&](const std::vector<std::int64_t>& lengths) {
    Values result;
    std::int64_t first = 0;
    for (const std::int64_t length : lengths) {
      UpdateTarget target = UpdateTarget::whole(DType::f64, DType::f64, {length});
      target.tensor_elements = n;
      Values p, g(static_cast<std::size_t>(length));
      for (std::int64_t i = 0; i < length; ++i) p.push_back(initial(static_cast<int>(first + i)));
      std::vector<std::vector<std::byte>> memory;
      UpdateOperands operands{{p.data(), DType::f64, {length}}, {g.data(), DType::f64, {length}}, {}, true, n};
      for (const StateSpec& state : states_of(rule, target)) {
        memory.emplace_back(static_cast<std::size_t>(state.shape.elements() * bytes_of(state.type)));
        operands.states.push_back({memory.back().data(), state.type, state.shape});
      }
      Workspace workspace;
      const Launch update = bind_update(train, {&operands, 1}, nullptr, kernels, workspace);
      workspace.reserve();
      for (std::uint64_t t = 1; t <= 5; ++t) {
        for (std::int64_t i = 0; i < length; ++i)
          g[static_cast<std::size_t>(i)] = gradient(static_cast<int>(first + i), static_cast<int>(t));
        update({.step = t - 1});
      }
      result.insert(result.end(), p.begin(), p.end());
      first += length;
    }
    return result;
  };
  INFO(optimizer);
  CHECK(run({n}) == run({cut, n - cut}));
}
