// plan.collective selects the algorithm of every collective of a plan: in the engine, in its prediction and in the
// report.
#include <mutex>

#include "engine/base/host/clock.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/explain/analyse/report.hpp"
#include "engine/plan/collective/cost.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/network/link.hpp"
#include "engine/prove/calibrate/calibrate.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

class Recorder : public RankObserver {
 public:
  void span(Lane, const Span&) override {}
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan& phase) override {
    const std::lock_guard lock(mutex_);
    phases.push_back(phase);
  }
  void step_done(const StepSummary& summary, const StepTrace&) override {
    const std::lock_guard lock(mutex_);
    summaries.push_back(summary);
  }
  std::vector<PhaseSpan> phases;
  std::vector<StepSummary> summaries;

 private:
  std::mutex mutex_;
};

Scenario data_parallel(const std::string& collective, int ranks) {
  Scenario s;
  s.title = "collectives";
  s.model = {"gpt", 2, 16, 2, 8, 32, true, 0.0};
  s.plan.data = ranks;
  s.plan.micro_batches = 2;
  s.plan.collective = collective;
  s.plan.bucket_mib = 0.005;  // several buckets, whose sizes are not divisible by the number of ranks
  s.train.global_batch = 2 * ranks;
  s.cluster.spec = "test";
  s.cluster.peak_flops_fp32 = 1e9;
  s.cluster.memory_bandwidth = 1e9;
  s.cluster.devices_per_node = 8;
  s.cluster.intra_latency_s = 1e-6;
  s.cluster.intra_bandwidth = 1e9;
  s.cluster.software.collectives = Collectives::engine;
  return s;
}

}  // namespace

TEST_CASE("a run's collectives use plan.collective: in its transfers, its bytes and its report") {
  const std::string collective = GENERATE("auto", "ring", "naive", "tree", "halving-doubling");
  const int n = GENERATE(3, 4);
  CAPTURE(collective, n);
  const StepProgram step = compile(data_parallel(collective, n));
  Recorder recorder;
  RunSettings settings;
  settings.device = "sleep";
  settings.steps = 2;
  settings.start_ns = monotonic_ns();
  settings.comm.record_phases = true;
  settings.sleep_cost_ns = [](const RankProgram&, const Op&) { return std::int64_t{0}; };
  run_loopback(step, settings, [&](int) { return &recorder; });

  const std::vector<RankProgram> programs = step.all_programs();
  std::size_t transfers = 0;
  for (const Op& op : programs[0].ops)
    if (const auto algorithm = algorithm_of(collective); algorithm && op.id.kind() == OpKind::all_reduce)
      transfers += transfers_of(OpKind::all_reduce, *algorithm, n, programs[0].payload_bytes(op) / 4).size();
  CHECK(recorder.phases.size() == 2 * transfers);
  CHECK((transfers > 0) == (collective != "auto"));

  RunFacts facts;
  facts.plan = step.scenario.plan;
  facts.grid = step.grid;
  facts.programs = programs;
  facts.summaries = recorder.summaries;
  const Report report = make_report(facts);
  REQUIRE(report.traffic.size() == 1);
  CHECK(report.traffic[0].bytes_per_rank > 0);
  CHECK(report.traffic[0].bytes_per_rank == Approx(report.traffic[0].predicted));
  const auto pairs = static_cast<int>(report.links.size());
  if (collective == "auto") CHECK(pairs == n * (n - 1));
  if (collective == "ring") CHECK(pairs == n);             // to the next
  if (collective == "naive") CHECK(pairs == 2 * (n - 1));  // to the root and from it
  CHECK_FALSE(report.links.empty());
  for (const LinkReport& link : report.links) {
    CHECK(link.bytes > 0);
    CHECK(link.bytes == link.predicted);
  }
  CHECK(to_text(report).find("collectives by plan.collective: " + collective + "\n") != std::string::npos);
}

TEST_CASE("the machine model and the engine's own prediction cost collectives by plan.collective") {
  const std::string collective = GENERATE("auto", "ring", "naive", "tree", "halving-doubling");
  const StepProgram step = compile(data_parallel(collective, 4));
  const std::vector<int> members{0, 1, 2, 3};
  const std::int64_t bytes = 4000;
  for (const Costs& costs : {modelled_costs(step.scenario, step.model), predict_costs(step)}) {
    CAPTURE(collective);
    const std::int64_t ring = ring_ns(OpKind::all_reduce, members, bytes, costs.link);
    if (collective == "auto" || collective == "ring") {
      // Empty is the simulator's default: a ring.
      CHECK((!costs.collective_ns || costs.collective_ns(OpKind::all_reduce, members, bytes) == ring));
      continue;
    }
    REQUIRE(costs.collective_ns);
    CHECK(costs.collective_ns(OpKind::all_reduce, members, bytes) ==
          algorithm_ns(OpKind::all_reduce, *algorithm_of(collective), members, bytes, costs.link));
    CHECK((costs.collective_ns(OpKind::all_reduce, members, bytes) > ring) == (collective != "halving-doubling"));
  }
}
