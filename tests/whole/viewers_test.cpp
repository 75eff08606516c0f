// Viewers of a run outside its processes: late, near, with a valid key, with a wrong one.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "telemetry/store/run_store.hpp"
#include "telemetry/stream/viewer_client.hpp"
#include "telemetry/trace/trace_reader.hpp"
#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

/// A viewer with a store, like the window's.
struct Viewer {
  explicit Viewer(const Join& join) : client({.join = join, .limits = {}}, store) {}
  std::shared_ptr<const StoreView> view() const { return store.view(); }
  RunStore store;
  ViewerClient client;  // its thread feeds the store, so it is destroyed first
};

std::size_t spans_of(const StoreView& view, std::uint32_t step) {
  return view.step_spans(Obtained::measured, step).size();
}

/// By step; an unknown value (the loss without a head) is equal to itself.
std::vector<StepSummary> summaries_of(const StoreView& view, int rank) {
  std::vector<StepSummary> all = view.summaries(rank);
  for (StepSummary& summary : all)
    if (std::isnan(summary.loss)) summary.loss = -1;
  return all;
}

bool session_ended(const StoreView& view) {
  const auto ends = view.ends();
  return std::any_of(ends.begin(), ends.end(), [](const End& end) { return end.rank == -1; });
}

}  // namespace

TEST_CASE("a late viewer gets everything that is recorded") {
  const Folder folder;
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO(comm);
  const std::string file = (folder / "run.mcap").string();
  constexpr int steps = 400;
  Process run(folder, engine_command(with_small_model({"run", lab("pipeline-1f1b"), "--comm", comm, "--steps",
                                                       std::to_string(steps), "--json", "--record", file, "--publish",
                                                       "tcp://127.0.0.1:*"})));
  const std::string endpoint = run.line_of_errors("viewers: ", a_minute);
  REQUIRE(endpoint.starts_with("tcp://127.0.0.1:"));
  // A first one watches; when it has seen some steps, the second one connects.
  Viewer first(parse_join(endpoint));
  REQUIRE(wait_until(a_minute, [&] { return first.view()->summaries(0).size() >= 10; }));
  const std::size_t missed = first.view()->summaries(0).size();
  REQUIRE(missed < steps);  // it is still training
  Viewer late(parse_join(endpoint));

  const Ended ended = run.wait(a_minute);
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  CHECK(wait_until(a_minute, [&] { return session_ended(*late.view()); }));
  RunStore recorded_store;
  REQUIRE(read_trace(file, recorded_store));
  const auto recorded = recorded_store.view(), seen = late.view();
  REQUIRE(seen->hello());
  CHECK(*seen->hello() == *recorded->hello());
  for (int rank = 0; rank < 4; ++rank) {
    INFO("rank " << rank);
    REQUIRE(seen->program(rank));
    CHECK(*seen->program(rank) == *recorded->program(rank));
    CHECK(seen->summaries(rank).size() == steps);
    CHECK((summaries_of(*seen, rank) == summaries_of(*recorded, rank)));
  }
  CHECK(seen->ends().size() == recorded->ends().size());
  CHECK(late.client.status().garbage == 0);
  // Detail may be dropped if a viewer is slow, and is then counted; this viewer is not slow.
  CHECK(seen->dropped_count() == 0);
  CHECK(seen->event_count() == recorded->event_count());
  for (const std::uint32_t step : {0U, 1U, steps / 2U, steps - 1U}) {
    INFO("step " << step);
    CHECK(spans_of(*seen, step) > 100);
    CHECK(spans_of(*seen, step) == spans_of(*recorded, step));
  }
}

TEST_CASE("viewers do not prevent a run from ending, however many") {
  const Folder folder;
  Process run(folder, engine_command(with_small_model(
                          {"run", lab("pipeline-1f1b"), "--steps", "30", "--publish", "tcp://127.0.0.1:*"})));
  const std::string endpoint = run.line_of_errors("viewers: ", a_minute);
  REQUIRE(!endpoint.empty());
  std::vector<std::unique_ptr<Viewer>> viewers;
  for (int i = 0; i < 8; ++i) viewers.push_back(std::make_unique<Viewer>(parse_join(endpoint)));
  const Ended ended = run.wait(a_minute);
  CHECK(ended.status == 0);
  CHECK(ended.seconds < some_seconds.count());
  for (const auto& viewer : viewers) {
    CHECK(wait_until(a_minute, [&] { return session_ended(*viewer->view()); }));
    CHECK(viewer->view()->summaries(3).size() == 30);
  }
}

TEST_CASE("beyond this machine only a listed key is served, and no secret is in an argument list") {
  const Folder folder;
  const std::string join_file = (folder / "join").string();
  Process run(folder, engine_command(with_small_model({"run", lab("pipeline-1f1b"), "--steps", "100000", "--publish",
                                                       "tcp://0.0.0.0:*", "--join-file", join_file})));
  const std::string endpoint = run.line_of_errors("viewers: ", a_minute);
  REQUIRE(!endpoint.empty());
  const std::string port = endpoint.substr(endpoint.rfind(':'));
  struct stat info {};
  REQUIRE(stat(join_file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);

  Join listed = read_join_file(join_file);
  CHECK(listed.secured());
  CHECK(listed.endpoint.substr(listed.endpoint.rfind(':')) == port);
  listed.endpoint = "tcp://127.0.0.1" + port;
  Join stranger = listed, open = listed;
  stranger.keys = new_curve_keys();
  open.server_key.clear();
  open.keys = {};
  const Viewer one_of_us(listed), with_other_keys(stranger), without_keys(open);
  CHECK(wait_until(a_minute, [&] { return one_of_us.view()->summaries(3).size() >= 20; }));
  CHECK(one_of_us.client.status().state == ViewerState::live);
  for (const Viewer* other : {&with_other_keys, &without_keys}) {
    CHECK(other->client.status().messages == 0);
    CHECK(other->client.status().state != ViewerState::live);
    CHECK(!other->view()->hello());
  }
  for (const pid_t process : folder.processes()) {
    INFO(arguments_of(process));
    for (const std::string& key : {listed.keys.secret_key, listed.keys.public_key, listed.server_key})
      CHECK(arguments_of(process).find(key) == std::string::npos);
  }
  run.signal(SIGTERM);
  CHECK(run.wait(a_minute).status == status::stopped);
}

TEST_CASE("a run ignores noise on its socket") {
  const Folder folder;
  Process run(folder, engine_command(with_small_model(
                          {"run", lab("pipeline-1f1b"), "--steps", "60", "--publish", "tcp://127.0.0.1:*"})));
  const std::string endpoint = run.line_of_errors("viewers: ", a_minute);
  REQUIRE(!endpoint.empty());
  const std::string port = endpoint.substr(endpoint.rfind(':') + 1);
  const Ended noise =
      Process(folder, {"/bin/bash", "-c",
                       "for i in 1 2 3; do head -c 100000 /dev/urandom > /dev/tcp/127.0.0.1/" + port + "; done"})
          .wait(a_minute);
  CHECK(noise.in_time);
  Viewer viewer(parse_join(endpoint));
  const Ended ended = run.wait(a_minute);
  INFO(ended.err);
  CHECK(ended.status == 0);
  CHECK(wait_until(a_minute, [&] { return session_ended(*viewer.view()); }));
  CHECK(viewer.view()->summaries(0).size() == 60);
}
