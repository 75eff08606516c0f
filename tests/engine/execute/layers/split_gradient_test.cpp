// The gradients of tensor ranks' segments, compared with finite differences in fp64. One thread runs the ranks of a
// group, and does the exchanges of Model::exchanges between their segments.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "engine/plan/model/part.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/comparison.hpp"
#include "tests/engine/execute/layers/hand_laid.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

Scenario small_scenario(int tensor, bool sequence_parallel, bool tied, double dropout, const char* kind = "gpt") {
  Scenario scenario;
  scenario.model = {.kind = kind,
                    .layers = 2,
                    .width = 24,
                    .heads = std::string(kind) == "llama" ? 12 : 4,  // a llama's share keys and values
                    .context = 6,
                    .vocabulary = 15,
                    .tied = tied,
                    .dropout = dropout,
                    .key_value_heads = 4,
                    .inner = 20};
  scenario.train.global_batch = 2;
  scenario.plan.precision = "fp64";
  scenario.plan.tensor = tensor;
  scenario.plan.sequence_parallel = sequence_parallel;
  return scenario;
}

class TensorGroup {
 public:
  explicit TensorGroup(const Scenario& scenario, const kernels::KernelSet& kernels = kernels::cpu_kernels()) {
    for (int rank = 0; rank < scenario.plan.tensor; ++rank)
      ranks_.push_back(std::make_unique<HandLaid>(make_model(scenario), kernels, 1, true, rank));
  }
  const Model& model() const { return ranks_.front()->model(); }
  HandLaid& rank(int index) { return *ranks_[static_cast<std::size_t>(index)]; }
  int size() const { return static_cast<int>(ranks_.size()); }

  /// The mean loss, which is equal on all ranks.
  double forward() {
    for (std::size_t s = 0; s < model().segments.size(); ++s) {
      for (int r = 0; r < size(); ++r) rank(r).forward(context_of(r), s, s + 1);
      const SegmentSpec& segment = model().segments[s];
      for (const Exchange& e : model().exchanges)
        for (const TensorSpec& output : segment.outputs)
          if (e.forward && output.name == e.from) {
            const auto views = [&](TensorName name) {
              return views_of([&](HandLaid& rank) { return rank.activation(segment, name); });
            };
            exchange(*e.forward, views(e.from), views(e.to));
          }
    }
    const auto loss = [&](int r) {
      return *rank(r).activation(model().segments.back(), TensorName::loss).as<double>();
    };
    for (int r = 1; r < size(); ++r) CHECK(loss(r) == loss(0));
    return loss(0) / static_cast<double>(model().tokens());
  }

  void backward() {
    for (std::size_t s = model().segments.size(); s-- > 0;) {
      for (int r = 0; r < size(); ++r) rank(r).backward_of(s, context_of(r), false);
      const SegmentSpec& segment = model().segments[s];
      for (const Exchange& e : model().exchanges)
        for (const TensorName output : segment.gradient_outputs)
          if (e.backward && output == e.to) {
            const auto views = [&](TensorName name) {
              return views_of([&](HandLaid& rank) { return rank.activation_gradient(segment, name); });
            };
            exchange(*e.backward, views(e.to), views(e.from));
          }
    }
  }

 private:
  LaunchContext context_of(int rank) const {
    return {.step = 2, .seed = 99, .first_sample = 4, .global_tokens = model().tokens(), .tensor = rank};
  }
  std::vector<View> views_of(const std::function<View(HandLaid&)>& view) {
    std::vector<View> views;
    for (const auto& rank : ranks_) views.push_back(view(*rank));
    return views;
  }

  /// One view of each rank; `from` and `to` are the same views for an operation in place.
  static void exchange(OpKind kind, const std::vector<View>& from, const std::vector<View>& to) {
    std::vector<double> whole;
    if (kind == OpKind::all_gather) {
      for (const View& part : from) whole.insert(whole.end(), part.as<double>(), part.as<double>() + part.elements());
    } else {
      whole.assign(static_cast<std::size_t>(from.front().elements()), 0);
      for (const View& part : from)
        for (std::size_t i = 0; i < whole.size(); ++i) whole[i] += part.as<double>()[i];
    }
    auto next = whole.begin();
    for (const View& view : to) {
      if (kind != OpKind::reduce_scatter) next = whole.begin();
      std::copy_n(next, view.elements(), view.as<double>());
      next += view.elements();
    }
    REQUIRE(next == whole.end());
  }

  std::vector<std::unique_ptr<HandLaid>> ranks_;
};

/// Calls visit(element of the rank's view, element of the whole parameter) for the rank's share of a parameter.
template <class Visit>
void for_each_element(const ParameterSpec& spec, int rank, Visit visit) {
  for (const ElementRun& run : element_runs(spec, rank, 0, spec.shape.elements()))
    for (std::int64_t i = 0; !run.is_padding() && i < run.count; ++i) visit(run.local + i, run.global + i);
}

/// Moves every rank's share of a parameter along a direction of the whole parameter.
void move(TensorGroup& group, int parameter, const std::vector<double>& direction, double distance) {
  for (int r = 0; r < group.size(); ++r) {
    const View view = group.rank(r).parameter(parameter);
    for_each_element(group.model().parameters[static_cast<std::size_t>(parameter)], r,
                     [&](std::int64_t local, std::int64_t global) {
                       view.as<double>()[local] += distance * direction[static_cast<std::size_t>(global)];
                     });
  }
}

}  // namespace

TEST_CASE("the gradients of tensor ranks are the slope of the loss that all of them have") {
  const int tensor = GENERATE(2, 4);
  const bool sequence_parallel = GENERATE(false, true);
  const bool tied = GENERATE(true, false);
  const auto [kind, dropout] = GENERATE(table<const char*, double>({{"gpt", 0.0}, {"gpt", 0.2}, {"llama", 0.0}}));
  TensorGroup group(small_scenario(tensor, sequence_parallel, tied, dropout, kind));
  const Model& model = group.model();
  const Batch batch = random_batch(model.tokens(), 15, 3);
  for (int r = 0; r < tensor; ++r) group.rank(r).set_batch(batch.tokens, batch.targets);
  // Weights much larger than initial ones, so that every term of the gradient is significant.
  for (std::size_t p = 0; p < model.parameters.size(); ++p) {
    std::vector<double> direction(static_cast<std::size_t>(model.parameters[p].whole.elements()));
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = 0.3 * (2 * uniform(5, p, i) - 1);
    move(group, static_cast<int>(p), direction, 1);
  }
  group.forward();
  group.backward();
  std::vector<std::vector<std::vector<double>>> gradients;  // by rank and parameter; copies
  for (int r = 0; r < tensor; ++r) {
    auto& of_rank = gradients.emplace_back();
    for (std::size_t p = 0; p < model.parameters.size(); ++p) {
      const View view = group.rank(r).gradient(static_cast<int>(p));
      of_rank.emplace_back(view.as<double>(), view.as<double>() + view.elements());
    }
  }
  for (std::size_t p = 0; p < model.parameters.size(); ++p) {
    const ParameterSpec& spec = model.parameters[p];
    const auto parameter = static_cast<int>(p);
    // A parameter that all ranks have: equal on all, or with sequence parallelism the sum of each rank's rows.
    std::vector<double> gradient(static_cast<std::size_t>(spec.whole.elements()));
    for (int r = 0; r < tensor; ++r) {
      const auto& own = gradients[static_cast<std::size_t>(r)][p];
      const bool counts = spec.split.axis >= 0 || r == 0 || model.sums_gradient(parameter);
      for_each_element(spec, r, [&](std::int64_t local, std::int64_t global) {
        if (counts) gradient[static_cast<std::size_t>(global)] += own[static_cast<std::size_t>(local)];
      });
      if (!counts) CHECK(own == gradients[0][p]);
      for (const ElementRun& run : element_runs(spec, r, 0, spec.shape.elements()))
        for (std::int64_t i = 0; run.is_padding() && i < run.count; ++i)
          CHECK(own[static_cast<std::size_t>(run.local + i)] == 0);
    }
    double norm = 0;
    for (const double g : gradient) norm += g * g;
    norm = std::sqrt(norm);
    INFO(spec.name << " of a " << kind << ", tensor " << tensor << (sequence_parallel ? " sequence-parallel" : "")
                   << ", tied " << tied << ", dropout " << dropout);
    CHECK(norm > 1e-6);
    for (std::uint64_t trial = 0; trial < 2; ++trial) {
      std::vector<double> direction(gradient.size());
      const bool single = trial == 1;
      if (single) direction[random_bits(7, trial, p) % direction.size()] = 1;
      for (std::size_t i = 0; !single && i < direction.size(); ++i)
        direction[i] = normal(7, trial, i) / std::sqrt(static_cast<double>(direction.size()));
      double expected = 0;
      for (std::size_t i = 0; i < direction.size(); ++i) expected += direction[i] * gradient[i];
      double at = 0;
      const auto loss_at = [&](double distance) {
        move(group, parameter, direction, distance - at);
        at = distance;
        return group.forward();
      };
      const double h = 1e-3;  // differences of fourth order
      const double measured = (8 * (loss_at(h) - loss_at(-h)) - (loss_at(2 * h) - loss_at(-2 * h))) / (12 * h);
      loss_at(0);
      INFO("trial " << trial << ": gradient says " << expected << ", differences say " << measured);
      CHECK(std::abs(measured - expected) < 1e-8 * norm);
    }
  }
}

TEST_CASE("tensor ranks that compute logits some rows at a time have the gradients of those that compute all at once") {
  kernels::KernelSet few_rows = kernels::cpu_kernels();
  few_rows.options.product_elements = 5 * 8;  // five rows of a rank's words
  TensorGroup whole(small_scenario(2, false, true, 0.2)), divided(small_scenario(2, false, true, 0.2), few_rows);
  const Batch batch = random_batch(whole.model().tokens(), 15, 3);
  for (TensorGroup* group : {&whole, &divided}) {
    for (int r = 0; r < 2; ++r) group->rank(r).set_batch(batch.tokens, batch.targets);
    group->forward();
    group->backward();
  }
  for (int r = 0; r < 2; ++r)
    for (std::size_t p = 0; p < whole.model().parameters.size(); ++p) {
      INFO(whole.model().parameters[p].name << " of rank " << r);
      const auto values = [&](TensorGroup& group) {
        const View view = group.rank(r).gradient(static_cast<int>(p));
        return std::vector<double>(view.as<double>(), view.as<double>() + view.elements());
      };
      CHECK(frobenius_error(values(divided), values(whole)) < 1e-12);
    }
}
