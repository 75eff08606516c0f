// Every plan of the matrix trains the same model as one rank, under delays and with all unused memory poisoned; and it
// uses the memory that its program states. The plans cover all pairs of options; in a long run of the tests, triples
// too.
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "engine/execute/run/job.hpp"
#include "engine/explain/analyse/report.hpp"
#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/summaries.hpp"
#include "tests/engine/prove/verify/matrix/plans.hpp"
#include "tests/judged.hpp"
#include "tests/slowness.hpp"

using namespace rankscope;
using namespace rankscope::testing;

namespace {

// The plans to run: all of them. With sanitizers fewer, because these are slower, and pairs of options share their
// code.
constexpr std::size_t every = rankscope::test::slowness;

RunSettings troubled(std::uint64_t seed, std::int64_t greatest_delay_ns = 100'000) {
  RunSettings settings;
  settings.stress = {seed, greatest_delay_ns, true};
  return settings;
}

/// Traffic and memory of these steps are what the programs state.
void check_bytes(const StepProgram& step, const std::vector<StepSummary>& summaries) {
  REQUIRE(!summaries.empty());
  RunFacts facts;
  facts.plan = step.scenario.plan;
  facts.grid = step.grid;
  facts.programs = step.all_programs();
  facts.summaries = summaries;
  for (const LinkReport& link : make_report(facts).links) {
    INFO("from " << link.from << " to " << link.to);
    CHECK(link.bytes == link.predicted);
  }
  std::vector<MemoryProfile> profiles;
  for (const RankProgram& program : facts.programs) profiles.push_back(memory_profile(program));
  for (const StepSummary& summary : summaries) {
    const MemoryProfile& profile = profiles[static_cast<std::size_t>(summary.rank)];
    INFO("rank " << summary.rank << ", step " << summary.step);
    for (const MemoryClass memory : {MemoryClass::parameters, MemoryClass::gradients, MemoryClass::optimizer,
                                     MemoryClass::activations, MemoryClass::buffers})
      CHECK(summary.peak_bytes[static_cast<std::size_t>(memory)] ==
            profile.peak_by_class[static_cast<std::size_t>(memory)]);
    const std::int64_t scratch = summary.peak_bytes[static_cast<std::size_t>(MemoryClass::workspace)];
    CHECK(summary.peak_total_bytes - scratch == profile.peak);
  }
}

}  // namespace

TEST_CASE("a covering array has every pair that is possible, and says which are not") {
  // Three options; the second's value 1 excludes the first's value 0.
  const auto is_valid = [](const Row& row) { return !(row[0] == 0 && row[1] == 1); };
  const CoveringArray array = covering_array({2, 3, 4}, is_valid, 0, 1);
  CHECK(array.impossible == std::vector<Pair>{{0, 0, 1, 1}});
  CHECK(array.pairs == 2 * 3 + 2 * 4 + 3 * 4 - 1);
  std::set<std::array<int, 2>> first_two;
  for (const Row& row : array.rows) {
    CHECK(is_valid(row));
    first_two.insert({row[0], row[1]});
  }
  CHECK(first_two.size() == 5);
  CHECK(array.rows.size() <= 20);
}

TEST_CASE("the pairs of options that no plan of the matrix has are those that are known to be impossible") {
  const std::map<std::string, std::string> known = impossible_pairs();  // and the reasons
  std::set<std::string> missing;
  for (const Pair& pair : plan_matrix().impossible) missing.insert(describe(pair));
  for (const std::string& pair : missing) {
    INFO("refused, but not in impossible.txt: " << pair);
    CHECK(known.contains(pair));
  }
  for (const auto& [pair, reason] : known) {
    INFO("in impossible.txt (" << reason << "), but a plan has it: " << pair);
    CHECK(missing.contains(pair));
  }
  // Every other pair of values of two options is in some plan.
  int all = 0, options_before = 0;
  for (const PlanOption& option : plan_options()) {
    all += options_before * static_cast<int>(option.values.size());
    options_before += static_cast<int>(option.values.size());
  }
  CHECK(plan_matrix().pairs + static_cast<int>(known.size()) == all);
}

TEST_CASE(
    "every plan of the matrix trains the same model as one rank, and every rank of it holds and sends the bytes that "
    "its "
    "program states, whatever is delayed") {
  const CoveringArray& matrix = plan_matrix();
  std::set<int> ranks;
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    const Scenario s = scenario_of(matrix.rows[i]);
    ranks.insert(s.plan.ranks());
    if (i % every != 0) continue;
    const VerifyResult result = verify(s, troubled(i));
    INFO("plan " << i << ": " << describe(matrix.rows[i]) << "\n" << to_text(result));
    // Only stale weights train another model.
    CHECK(result.passed == !s.plan.has_stale_weights());
    CHECK((result.outcome == Outcome::different) == s.plan.has_stale_weights());
    check_bytes(compile(s), result.runs.back().summaries);  // the run with its own optimizer
  }
  CHECK(*ranks.begin() == 1);
  CHECK(*ranks.rbegin() == 16);
}

TEST_CASE("bytes are as stated when a step begins while another one ends, too") {
  const CoveringArray& matrix = plan_matrix();
  for (std::size_t i = 0; i < matrix.rows.size(); i += 6 * every) {
    const StepProgram step = compile(scenario_of(matrix.rows[i]));
    Summaries summaries;
    RunSettings settings = troubled(i, 300'000);
    settings.steps = 2;
    run_loopback(step, settings, [&](int) { return &summaries; });
    REQUIRE(summaries.all.size() == settings.steps * static_cast<std::size_t>(step.grid.size()));
    INFO("plan " << i << ": " << describe(matrix.rows[i]));
    check_bytes(step, summaries.all);
  }
}

TEST_CASE("a norm counted twice and a gather that is read too early are caught") {
  struct Planted {
    const char* plant;
    int zero;
  };
  const auto planted =
      GENERATE(Planted{"norm_counted_twice", 0}, Planted{"norm_counted_twice", 2}, Planted{"early_gather_read", 3});
#ifdef __SANITIZE_THREAD__
  if (planted.zero == 3)
    return test::not_judged("a gather read too early: a race, for which the sanitizer ends the test");
#endif
  Scenario s;
  s.model = {"gpt", 4, 16, 2, 8, 64, true, 0.0};
  s.plan.data = 2;
  s.plan.pipeline = 2;
  s.plan.micro_batches = 2;
  s.plan.zero = planted.zero;
  s.plan.precision = "fp64";
  s.train.global_batch = 4;
  s.train.clip = 0.1;
  CHECK(verify(s, troubled(1)).passed);
  s.fault.plant = planted.plant;
  const VerifyResult result = verify(s, troubled(1, 2'000'000));  // an op that does not wait for a gather is early
  INFO(planted.plant << "\n" << to_text(result));
  CHECK_FALSE(result.passed);
}

TEST_CASE("ranks of one process share no memory: what one does to its own, no other sees") {
  Scenario s = scenario_of(plan_matrix().rows.front());
  s.plan = {};
  s.plan.data = 2;
  s.train.global_batch = 2;
  const StepProgram step = compile(s);
  RunSettings settings;
  settings.steps = 1;
  std::mutex mutex;
  std::condition_variable met;
  int finished = 0;
  bool looked = false, poisoned = false;
  std::vector<std::byte> before, after;
  const auto content = [](RankRun& run) {
    std::vector<std::byte> bytes;
    for (BufferIndex b = 0; b < run.program().buffers.size(); ++b) {
      const View view = run.view(b);
      bytes.insert(bytes.end(), view.as<std::byte>(), view.as<std::byte>() + view.bytes());
    }
    return bytes;
  };
  run_loopback(
      step, settings, [](int) { return nullptr; },
      [&](RankRun& run, int rank) {
        run.run(0, 1);
        std::unique_lock lock(mutex);
        ++finished;
        met.notify_all();
        met.wait(lock, [&] { return finished == 2; });
        if (rank == 0) {
          before = content(run);
          looked = true;
          met.notify_all();
          met.wait(lock, [&] { return poisoned; });
          after = content(run);
        } else {
          met.wait(lock, [&] { return looked; });
          for (BufferIndex b = 0; b < run.program().buffers.size(); ++b) {
            const View view = run.view(b);
            std::fill_n(view.as<std::byte>(), view.bytes(), std::byte{0xFF});
          }
          poisoned = true;
          met.notify_all();
        }
      });
  CHECK(!before.empty());
  CHECK(before == after);
}
