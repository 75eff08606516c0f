// Asynchronous servers laid out in time: they serve workers in the order of arrival, within the bound on staleness.
#include <algorithm>
#include <map>

#include "engine/plan/program/compile.hpp"
#include "tests/catch.hpp"
#include "tests/engine/predict/simulate/emulated.hpp"
#include "tests/engine/predict/simulate/pipelines.hpp"

using namespace rankscope;

namespace {

constexpr int workers = 3;

StepProgram asynchronous(int staleness, int servers = 1) {
  Scenario s;
  s.model = {"gpt", 2, 16, 4, 8, 61, true, 0};
  s.plan.data = workers;
  s.plan.data_parallel = "parameter-server";
  s.plan.servers = servers;
  s.plan.staleness = staleness;
  s.train.global_batch = workers;
  s.train.clip = 0;
  return compile(s);
}

std::vector<RankProgram> programs_of(const StepProgram& step) {
  std::vector<RankProgram> programs;
  for (int rank = 0; rank < step.grid.size(); ++rank) programs.push_back(step.program_for(rank));
  return programs;
}

/// Each rank's ops of compute take this long; messages 100 ns, updates 50 ns.
Costs costs_of(std::vector<std::int64_t> compute_ns) {
  Costs costs;
  costs.compute_ns = [compute_ns](const RankProgram& program, const Op& op) -> std::int64_t {
    if (op.lane() == Lane::server) return 50;
    return is_model_compute(op.id.kind()) ? compute_ns.at(static_cast<std::size_t>(program.rank)) : 0;
  };
  costs.link = [](int, int) { return Link{100, 0}; };
  return costs;
}

struct Served {
  int worker = 0;
  std::uint32_t step = 0;
  std::int64_t arrived = 0, begin = 0;  ///< when the worker arrived, and when its gradients began to move
};

/// The contributions that a server served, in its order.
std::vector<Served> served_by(int server, const std::vector<Span>& spans) {
  std::map<std::pair<int, std::uint32_t>, std::int64_t> arrived;
  std::vector<Served> served;
  for (const Span& span : spans) {
    const OpFields f = span.op.fields();
    if (f.purpose != Purpose::server || f.index != server) continue;
    if (f.kind == OpKind::send && span.rank < workers) arrived[{span.rank, span.step}] = span.begin_ns;
    if (f.kind == OpKind::receive && span.rank == workers + server)
      served.push_back({f.micro_batch, span.step, 0, span.active_ns});
  }
  for (Served& one : served) one.arrived = arrived.at({one.worker, one.step});
  std::stable_sort(served.begin(), served.end(), [](const Served& a, const Served& b) { return a.begin < b.begin; });
  return served;
}

}  // namespace

TEST_CASE("a fast worker is served again before a slow one arrives, but no further ahead than the bound") {
  for (const int staleness : {1, 2, 4}) {
    const StepProgram step = asynchronous(staleness);
    const int steps = 8;
    const Simulation simulation = simulate(programs_of(step), step.grid, costs_of({1000, 1000, 10'000, 0}), steps);
    std::vector<std::uint32_t> next(workers);
    std::uint32_t furthest = 0;
    for (const Served& one : served_by(0, simulation.spans)) {
      CHECK(one.step == next[static_cast<std::size_t>(one.worker)]++);
      furthest = std::max(furthest, one.step + 1 - *std::min_element(next.begin(), next.end()));
    }
    INFO("staleness " << staleness);
    CHECK(furthest == static_cast<std::uint32_t>(staleness));  // steps finished by one and not by another
    CHECK(next == std::vector<std::uint32_t>(workers, steps));
  }
}

TEST_CASE("of the workers that may be served the first to arrive is served") {
  const StepProgram step = asynchronous(3, 2);
  const Simulation simulation = simulate(programs_of(step), step.grid, costs_of({1000, 1370, 2110, 0, 0}), 12);
  for (int server = 0; server < 2; ++server) {
    const std::vector<Served> served = served_by(server, simulation.spans);
    REQUIRE(served.size() == 12 * workers);
    for (std::size_t i = 0; i < served.size(); ++i) {
      CHECK(served[i].begin >= served[i].arrived);
      std::vector<std::uint32_t> next(workers);
      for (std::size_t j = 0; j < i; ++j) next[static_cast<std::size_t>(served[j].worker)] = served[j].step + 1;
      const std::uint32_t oldest = *std::min_element(next.begin(), next.end());
      for (std::size_t j = i + 1; j < served.size(); ++j)  // no admitted worker that arrived earlier is served later
        if (served[j].step == next[static_cast<std::size_t>(served[j].worker)] && served[j].step - oldest <= 2)
          CHECK(served[j].arrived >= std::min(served[i].arrived, served[i].begin));
    }
  }
}

TEST_CASE("equal workers take turns, and the server is busy for all of them") {
  // There is no compute: a worker's step is its messages and its update, 100 + 50 + 100 ns, one after another.
  const StepProgram step = asynchronous(1);
  const Simulation simulation = simulate(programs_of(step), step.grid, costs_of({0, 0, 0, 0}), 4);
  CHECK(simulation.end_ns == 4 * workers * 250);
  const std::vector<Served> served = served_by(0, simulation.spans);
  for (std::size_t i = 0; i < served.size(); ++i) CHECK(served[i].worker == static_cast<int>(i % workers));
}

TEST_CASE("an executed order of arrivals is laid out as it was, each step after all earlier ones") {
  const StepProgram step = asynchronous(3);
  const std::vector<RankProgram> programs = programs_of(step);
  const Costs costs = costs_of({1000, 1370, 4000, 0});
  const int steps = 6;
  const Simulation simulated = simulate(programs, step.grid, costs, steps);
  // The report of a run that served in this order.
  std::vector<ExecutedStep> executed(steps);
  for (int s = 0; s < steps; ++s) {
    executed[s].step = static_cast<std::uint32_t>(s);
    executed[s].order = program_order(programs);
    executed[s].order[workers][static_cast<std::size_t>(Lane::server)].clear();
    executed[s].arrivals.resize(programs.size());
    for (const RankProgram& program : programs) {
      auto& row = executed[s].cost_ns.emplace_back();
      for (const Op& op : program.ops)
        row.push_back(is_communication(op.id.kind()) ? -1 : costs.compute_ns(program, op));
    }
  }
  const std::vector<Served> served = served_by(0, simulated.spans);
  for (std::size_t i = 0; i < served.size(); ++i) {
    ExecutedStep& of = executed[served[i].step];
    of.arrivals[workers].push_back(i);
    for (OpIndex op = 0; op < 3; ++op)
      of.order[workers][static_cast<std::size_t>(Lane::server)].push_back(static_cast<OpIndex>(3 * served[i].worker) +
                                                                          op);
  }
  Emulator emulator(programs, step.grid, costs);
  std::vector<Span> spans;
  bool waited = false;
  for (const ExecutedStep& one : executed) {
    const Simulation more = emulator.lay_out(one);
    waited = waited || more.spans.empty();
    spans.insert(spans.end(), more.spans.begin(), more.spans.end());
  }
  CHECK(waited);
  CHECK(spans == simulated.spans);

  // Another order gives another layout: now the slow worker is first.
  auto slow_first = executed;
  for (ExecutedStep& one : slow_first) {
    one.order = program_order(programs);
    std::rotate(one.order[workers][static_cast<std::size_t>(Lane::server)].begin(),
                one.order[workers][static_cast<std::size_t>(Lane::server)].begin() + 6,
                one.order[workers][static_cast<std::size_t>(Lane::server)].end());
    for (std::size_t i = 0; i < workers; ++i) one.arrivals[workers][i] = one.step * workers + i;
  }
  const std::vector<Served> later = served_by(0, emulate(programs, step.grid, slow_first, costs).spans);
  for (std::size_t i = 0; i < later.size(); ++i) CHECK(later[i].worker == static_cast<int>((i + 2) % workers));

  executed[0].arrivals.clear();
  CHECK_THROWS_WITH(Emulator(programs, step.grid, costs).lay_out(executed[0]), ContainsText("3 contributions"));
}
