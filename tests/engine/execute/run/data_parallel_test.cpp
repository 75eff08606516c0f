// A main device with its replicas, and synchronous parameter servers with their workers, train the same model as one
// rank; their costs are on the expected links.
#include "engine/execute/run/job.hpp"
#include "engine/plan/program/communication.hpp"
#include "engine/plan/scenario/check.hpp"
#include "engine/prove/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/summaries.hpp"

using namespace rankscope;

namespace {

struct Plan {
  const char* data_parallel;
  int servers = 1;
  const char* precision = "fp64";
  const char* optimizer = "adamw";
  double clip = 0;
  int data = 3, tensor = 1, pipeline = 1, micro_batches = 2;
  bool tied = true;
  const char* recompute = "none";
  const char* offload = "none";
};

Scenario scenario_of(const Plan& plan) {
  Scenario s;
  s.title = "data parallel";
  s.model = {"gpt", 2, 16, 4, 8, 61, plan.tied, 0.1};
  s.plan.data_parallel = plan.data_parallel;
  s.plan.servers = plan.servers;
  s.plan.precision = plan.precision;
  s.plan.data = plan.data;
  s.plan.tensor = plan.tensor;
  s.plan.pipeline = plan.pipeline;
  s.plan.micro_batches = plan.micro_batches;
  s.plan.recompute = plan.recompute;
  s.plan.offload = plan.offload;
  s.plan.bucket_mib = 0.002;  // several buckets
  s.train.global_batch = 2 * plan.data * plan.micro_batches;
  s.train.steps = 5;
  s.train.optimizer = plan.optimizer;
  s.train.clip = plan.clip;
  return s;
}

VerifyResult verified(const Scenario& scenario) {
  RunSettings settings;
  settings.stress = {7, 200'000, true};
  return verify(scenario, settings);
}

/// Bytes of all ops of that kind and purpose on a rank.
std::int64_t bytes_of(const StepProgram& step, int rank, OpKind kind, Purpose purpose) {
  const RankProgram program = step.program_for(rank);
  std::int64_t bytes = 0;
  for (const Op& op : program.ops)
    if (op.id.kind() == kind && op.id.fields().purpose == purpose) bytes += program.payload_bytes(op);
  return bytes;
}

std::int64_t updates_of(const StepProgram& step, int rank) {
  std::int64_t updates = 0;
  for (const Op& op : step.program_for(rank).ops)
    updates += op.id.kind() == OpKind::optimizer && op.id.fields().segment == Segment::update;
  return updates;
}

}  // namespace

TEST_CASE("a main device and its replicas train as one rank does") {
  for (const Plan& plan : {Plan{"main-device"}, Plan{.data_parallel = "main-device", .clip = 0.5},
                           Plan{.data_parallel = "main-device", .precision = "fp16", .pipeline = 2},
                           Plan{.data_parallel = "main-device", .data = 2, .tensor = 2, .pipeline = 2, .tied = false},
                           Plan{.data_parallel = "main-device", .precision = "fp16", .data = 2, .offload = "optimizer"},
                           Plan{.data_parallel = "main-device", .optimizer = "adafactor", .recompute = "blocks"}}) {
    const VerifyResult result = verified(scenario_of(plan));
    INFO(to_text(result));
    CHECK(result.passed);
  }
}

TEST_CASE("workers of synchronous parameter servers train as one rank does") {
  for (const Plan& plan :
       {Plan{"parameter-server"}, Plan{.data_parallel = "parameter-server", .servers = 3, .clip = 0.5},
        Plan{.data_parallel = "parameter-server", .servers = 2, .precision = "bf16"},
        Plan{.data_parallel = "parameter-server", .servers = 2, .precision = "fp32", .optimizer = "adam8bit"},
        Plan{.data_parallel = "parameter-server", .optimizer = "adafactor", .data = 1, .recompute = "sqrt"}}) {
    const VerifyResult result = verified(scenario_of(plan));
    INFO(to_text(result));
    CHECK(result.passed);
  }
}

TEST_CASE("a wrong gradient of one worker is found") {
  for (const char* data_parallel : {"main-device", "parameter-server"})
    for (const char* fault : {"gradient_scale", "dropped_micro_batch"}) {
      Scenario scenario = scenario_of({data_parallel});
      scenario.fault.plant = fault;
      const VerifyResult result = verify(scenario, RunSettings{});
      INFO(data_parallel << " " << fault << "\n" << to_text(result));
      CHECK_FALSE(result.passed);
    }
}

TEST_CASE("only the main device updates, and its link carries all ranks' samples and parameters") {
  const StepProgram step = compile(scenario_of({"main-device"}));
  CHECK(updates_of(step, 0) == 1);
  CHECK(updates_of(step, 1) == 0);
  std::int64_t parameters = 0;
  for (const ParameterSpec& p : step.model.parameters) parameters += p.shape.elements() * 8;
  // Buckets are padded to whole cache lines.
  CHECK(bytes_of(step, 0, OpKind::broadcast, Purpose::data_parameter) >= parameters);
  CHECK(bytes_of(step, 0, OpKind::broadcast, Purpose::data_parameter) ==
        bytes_of(step, 0, OpKind::reduce, Purpose::data_gradient));
  // Tokens and targets: 4 bytes each, 2 micro-batches of 2 samples of 8 tokens for each of 3 ranks.
  CHECK(bytes_of(step, 0, OpKind::scatter, Purpose::batch) == 2 * 4 * 2 * 2 * 8 * 3);
  CHECK(bytes_of(step, 2, OpKind::load_batch, Purpose::none) == 0);
}

TEST_CASE("servers share the parameters, and each worker's gradient and parameters cross the links once") {
  const StepProgram step = compile(scenario_of({.data_parallel = "parameter-server", .servers = 2}));
  REQUIRE(step.grid.size() == 5);
  CHECK(step.grid.group_of(4, GroupKind::server) == std::vector<int>{3, 4});
  CHECK(step.grid.group_of(0, GroupKind::data) == std::vector<int>{0, 1, 2});
  for (int worker = 0; worker < 3; ++worker) CHECK(updates_of(step, worker) == 0);
  const std::int64_t pushed = bytes_of(step, 0, OpKind::send, Purpose::server);
  CHECK(bytes_of(step, 0, OpKind::receive, Purpose::server) == pushed);
  for (int server = 3; server < 5; ++server) {
    CHECK(updates_of(step, server) == 1);
    // Half of the bytes that the three workers send together.
    CHECK(bytes_of(step, server, OpKind::receive, Purpose::server) == 3 * pushed / 2);
    CHECK(bytes_of(step, server, OpKind::send, Purpose::server) == 3 * pushed / 2);
  }
  std::int64_t kept = 0, elements = 0;
  for (const ParameterSpec& p : step.model.parameters) elements += p.shape.elements();
  for (int server = 3; server < 5; ++server)
    for (const Buffer& b : step.program_for(server).buffers)
      if (b.piece && b.memory == MemoryClass::parameters) kept += b.shape.elements();
  CHECK(kept == elements);
}

TEST_CASE("invalid plans with servers or a main device are refused") {
  const auto refused = [](void (*change)(Scenario&), const char* data_parallel = "parameter-server") {
    Scenario scenario = scenario_of({data_parallel});
    change(scenario);
    return first_complaint(scenario).has_value();
  };
  CHECK_FALSE(refused([](Scenario&) {}));
  CHECK(refused([](Scenario& s) { s.plan.tensor = 2; }));
  CHECK(refused([](Scenario& s) { s.plan.pipeline = 2; }));
  CHECK(refused([](Scenario& s) { s.plan.zero = 1; }));
  CHECK(refused([](Scenario& s) { s.plan.offload = "optimizer"; }));
  CHECK(refused([](Scenario& s) { s.plan.precision = "fp16"; }));
  CHECK(refused([](Scenario& s) { s.plan.staleness = 1, s.train.clip = 1; }));
  CHECK(refused([](Scenario& s) { s.plan.staleness = 1, s.train.checkpoint_every = 10; }));
  CHECK_FALSE(refused([](Scenario& s) { s.plan.staleness = 1; }));
  CHECK(refused([](Scenario& s) { s.plan.servers = 2, s.train.optimizer = "adafactor"; }));
  CHECK(refused([](Scenario& s) { s.plan.zero = 2; }, "main-device"));
  CHECK(refused([](Scenario& s) { s.plan.servers = 2; }, "all-reduce"));
  CHECK(refused([](Scenario& s) { s.plan.staleness = 1; }, "all-reduce"));
}

TEST_CASE("an asynchronous server updates for each worker in order of arrival, and answers that worker") {
  Scenario scenario = scenario_of({.data_parallel = "parameter-server", .servers = 2});
  scenario.plan.staleness = 2;
  const StepProgram step = compile(scenario);
  const RankProgram server = step.program_for(4);
  REQUIRE(server.arrivals_ahead == 1);
  CHECK(parse_program(to_text(server)).arrivals_ahead == 1);
  REQUIRE(server.ops.size() == 3 * 3);
  for (int worker = 0; worker < 3; ++worker) {
    const std::string contribution = ":m" + std::to_string(worker);
    const auto token = [&](int i) { return to_token(server.ops[static_cast<std::size_t>(3 * worker + i)].id); };
    CHECK(token(0) == "RECV.server" + contribution + ":i1");
    CHECK(token(1) == "OPT.server" + contribution + ":.update:i1");
    CHECK(token(2) == "SEND.server" + contribution + ":i1");
  }
  for (const Op& op : server.ops) CHECK(op.lane() == Lane::server);
}

TEST_CASE("workers of asynchronous servers learn, and finish every step") {
  Scenario scenario = scenario_of({.data_parallel = "parameter-server", .servers = 2, .precision = "fp32"});
  scenario.model.dropout = 0;
  scenario.plan.staleness = 3;
  scenario.train.learning_rate = 3e-3;
  scenario.train.warmup_steps = 0;
  RunSettings settings;
  settings.steps = 60;
  settings.stress = {11, 100'000, true};
  rankscope::testing::Summaries summaries;
  run_loopback(compile(scenario), settings, [&](int) { return &summaries; });
  double first = 0, last = 0;
  for (const StepSummary& summary : summaries.all) {
    if (summary.rank >= 3) continue;  // a server has no loss
    if (summary.step == 0) first += summary.loss;
    if (summary.step == settings.steps - 1) last += summary.loss;
  }
  CHECK(summaries.all.size() == 5 * settings.steps);
  CHECK(last < 0.9 * first);
}

TEST_CASE("a serial replay of the arrivals gives the asynchronous servers' results") {
  struct Case {
    Plan plan;
    int staleness;
  };
  for (const Case& c :
       {Case{{"parameter-server"}, 1}, Case{{.data_parallel = "parameter-server", .servers = 2}, 2},
        Case{{.data_parallel = "parameter-server", .servers = 3, .optimizer = "adam8bit"}, 4},
        Case{{.data_parallel = "parameter-server", .optimizer = "adafactor", .data = 2}, 3},
        Case{{.data_parallel = "parameter-server", .servers = 2, .precision = "fp32", .tied = false}, 2},
        Case{{.data_parallel = "parameter-server", .servers = 2, .precision = "bf16", .data = 4}, 3}}) {
    Scenario scenario = scenario_of(c.plan);
    scenario.plan.staleness = c.staleness;
    INFO(c.plan.servers << " servers, " << c.plan.precision << ", " << c.plan.optimizer << ", staleness "
                        << c.staleness);
    REQUIRE_FALSE(first_complaint(scenario));
    const VerifyResult result = verified(scenario);
    INFO(to_text(result));
    CHECK(result.passed);
    // Each server's shards and each worker's copy.
    CHECK(result.runs.front().errors.parameters.tensors > c.plan.data * 10);
    if (std::string(c.plan.precision) == "fp64") CHECK(result.runs.front().errors.parameters.worst < 1e-13);
  }
}

TEST_CASE("a worker whose gradient is scaled wrongly is found by the replay of its arrivals") {
  for (const char* fault : {"gradient_scale", "dropped_micro_batch"}) {
    Scenario scenario = scenario_of({.data_parallel = "parameter-server", .servers = 2});
    scenario.plan.staleness = 2;
    scenario.fault.plant = fault;
    const VerifyResult result = verified(scenario);
    INFO(to_text(result));
    CHECK_FALSE(result.passed);
    CHECK_THAT(result.runs.front().errors.worst_gradient, ContainsText("of worker 0"));
  }
}
