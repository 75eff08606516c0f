// A simulated collective takes the time of the alpha-beta model's closed form: each phase costs a latency α, and β for
// each byte that the busiest member sends or receives in it.
#include <cmath>

#include "engine/plan/program/passes.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/collective/cases.hpp"
#include "tests/engine/plan/program/one_collective.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

constexpr double alpha = 1e-3, beta = 1e-6;  // those of one_collective's cluster

// The number of latencies, and of transfers of the whole tensor one after another: time = phases α + tensors β S.
struct ClosedForm {
  double phases = 0, tensors = 0;
};

double log2_up(int n) { return std::ceil(std::log2(n)); }

// Textbook: Thakur et al. 2005; halving and doubling only for powers of two.
ClosedForm closed_form(OpKind kind, Algorithm algorithm, int n) {
  const double others = n - 1, levels = log2_up(n), share = others / n;  // (n-1)/n of the tensor are others' parts
  const bool rooted_part = kind == OpKind::scatter || kind == OpKind::gather;
  switch (algorithm) {
    case Algorithm::ring:
      if (kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::all_reduce)
        return {2 * others, 2 * share};
      return {others, share};
    case Algorithm::naive:
      if (kind == OpKind::broadcast || kind == OpKind::reduce) return {others, others};
      if (kind == OpKind::all_reduce) return {2 * others, 2 * others};
      if (rooted_part) return {others, share};
      if (kind == OpKind::all_to_all) return {n * others, others};
      return {2 * others, share + others};
    case Algorithm::tree:
      if (kind == OpKind::broadcast || kind == OpKind::reduce) return {levels, levels};
      if (kind == OpKind::all_reduce) return {2 * levels, 2 * levels};
      if (rooted_part) return {levels, share};
      if (kind == OpKind::all_to_all) return {others, share};
      return {2 * levels, share + levels};
    case Algorithm::halving_doubling:
      if (kind == OpKind::all_to_all) return {others, share};
      if (kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::all_reduce)
        return {2 * levels, 2 * share};
      return {levels, share};
  }
  return {};
}

double simulated_seconds(const Scenario& s) {
  const StepProgram step = compile(s);
  const Simulation simulation = simulate(step.all_programs(), step.grid, modelled_costs(s, step.model), 1);
  return static_cast<double>(simulation.end_ns) * 1e-9;
}

bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

}  // namespace

TEST_CASE("a step of a collective alone takes the closed form's time") {
  for (const OpKind kind : collectives)
    for (const Algorithm algorithm : algorithms)
      for (int n = 2; n <= 9; ++n) {
        if (algorithm == Algorithm::halving_doubling && !is_power_of_two(n)) continue;
        const double bytes = 4.0 * 2520 * 8;  // every n up to 9 divides it
        const ClosedForm form = closed_form(kind, algorithm, n);
        const double expected = form.phases * alpha + form.tensors * bytes * beta;
        CAPTURE(name_of(kind), name_of(algorithm), n);
        const double seconds = simulated_seconds(one_collective(kind, n, bytes, 0, std::string(name_of(algorithm))));
        CHECK(seconds == Approx(expected).epsilon(1e-9));
      }
}

TEST_CASE("a size that does not divide costs at most an element more in every phase") {
  for (const OpKind kind : collectives)
    for (const Algorithm algorithm : algorithms)
      for (int n = 2; n <= 9; ++n) {
        if (algorithm == Algorithm::halving_doubling && !is_power_of_two(n)) continue;
        const double bytes = 1001;
        const ClosedForm form = closed_form(kind, algorithm, n);
        const double expected = form.phases * alpha + form.tensors * bytes * beta;
        CAPTURE(name_of(kind), name_of(algorithm), n);
        const double seconds = simulated_seconds(one_collective(kind, n, bytes, 0, std::string(name_of(algorithm))));
        CHECK(std::abs(seconds - expected) <= (form.phases + form.tensors) * n * 4 * beta + 1e-9);
      }
}

TEST_CASE(
    "members above a power of two fold first and unfold last: two latencies more, and the tensor or their parts") {
  for (const int n : {3, 5, 6, 7, 9}) {
    const double bytes = 4.0 * 2520 * 8;
    const double levels = std::floor(std::log2(n));
    const double seconds = simulated_seconds(one_collective(OpKind::all_reduce, n, bytes, 0, "halving-doubling"));
    CAPTURE(n);
    CHECK(seconds > (2 * levels + 2) * alpha + 2 * bytes * beta);
    CHECK(seconds < (2 * levels + 2) * alpha + 5 * bytes * beta);
  }
}

TEST_CASE("the lesson's example: five megabytes at a megabyte per second to seven members") {
  Scenario s = one_collective(OpKind::broadcast, 8, 5e6, 0, "naive");
  s.cluster.intra_latency_s = 0;
  CHECK(simulated_seconds(s) == Approx(35.0));  // one after another
  s.plan.collective = "tree";
  CHECK(simulated_seconds(s) == Approx(15.0));  // three rounds
  s.plan.collective = "ring";
  CHECK(simulated_seconds(s) == Approx(8.75));  // in eight pieces along a chain: 14 steps of 5/8 s
}
