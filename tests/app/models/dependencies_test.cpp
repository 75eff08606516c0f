#include "app/models/dependencies.hpp"

#include <algorithm>

#include "tests/app/models/known_run.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

constexpr Obtained emulated = Obtained::emulated;

std::unique_ptr<KnownRun> two_stages() {
  auto run = std::make_unique<KnownRun>();
  run->span(0, 0, "F:c0:m0", 0, 100).span(0, 0, "F:c0:m1", 100, 200);
  run->span(0, 0, "SEND.pipeline_forward:c0:m0", 100, 110, 100);
  run->span(1, 0, "RECV.pipeline_forward:c1:m0", 0, 110, 100);
  run->span(1, 0, "F:c1:m0", 112, 210).span(1, 0, "B:c1:m0", 210, 410);
  return run;
}

RankProgram program_of(int rank, std::initializer_list<const char*> tokens, int peer) {
  RankProgram program;
  program.rank = rank;
  for (const char* token : tokens) {
    Op added;
    added.id = op(token);
    if (is_communication(added.id.kind())) added.peer = peer;
    program.ops.push_back(added);
  }
  return program;
}

}  // namespace

TEST_CASE("an op waited for the dependency that ended last") {
  const auto run = two_stages();
  const auto view = run->view();
  RankProgram program = program_of(1, {"RECV.pipeline_forward:c1:m0", "F:c1:m0", "B:c1:m0"}, 0);
  program.ops[1].after = {0};
  const Span forward = view->find(1, 0, op("F:c1:m0"), emulated).value();
  const auto needs = dependencies_of(*view, program, nullptr, emulated, forward);
  REQUIRE(needs.size() == 1);
  CHECK(needs[0].needs == Needs::data);
  CHECK(dependency_lines(needs, forward) ==
        std::vector<std::string>{"waited for: receive of activations, micro-batch 0 (ended 2.00 µs earlier)"});

  const Span backward = view->find(1, 0, op("B:c1:m0"), emulated).value();
  const auto lane = dependencies_of(*view, program, nullptr, emulated, backward);
  REQUIRE(lane.size() == 1);
  CHECK(lane[0].needs == Needs::lane);
  CHECK(lane[0].op == op("F:c1:m0"));
}

TEST_CASE("a receive waits for its sender, which may arrive after the receive began") {
  const auto run = two_stages();
  const auto view = run->view();
  const RankProgram program = program_of(1, {"RECV.pipeline_forward:c1:m0", "F:c1:m0"}, 0);
  const Span receive = view->find(1, 0, op("RECV.pipeline_forward:c1:m0"), emulated).value();
  const auto needs = dependencies_of(*view, program, nullptr, emulated, receive);
  REQUIRE(needs.size() == 1);
  CHECK(needs[0].needs == Needs::peer);
  CHECK(needs[0].rank == 0);
  CHECK(dependency_lines(needs, receive).front() ==
        "waited for: send of activations, micro-batch 0, rank 0 (began 100 µs later)");
}

TEST_CASE("missing ops are listed as missing, after the present ones") {
  const auto run = two_stages();
  const auto view = run->view();
  RankProgram program = program_of(1, {"RECV.pipeline_forward:c1:m0", "LOAD:c1:m0", "F:c1:m0"}, 0);
  program.ops[2].after = {0, 1};
  const Span forward = view->find(1, 0, op("F:c1:m0"), emulated).value();
  const auto lines = dependency_lines(dependencies_of(*view, program, nullptr, emulated, forward), forward);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] == "also after: load batch, micro-batch 0 (not recorded)");
}

TEST_CASE("stepping in time visits every op of all ranks and lanes once, in the order in which they began") {
  const auto run = two_stages();
  const auto view = run->view();
  std::vector<std::pair<LaneKey, Span>> all;
  for (const LaneKey& lane : view->lanes())
    for (const Span& span : view->spans(lane, view->extent(emulated), 0, 100)) all.emplace_back(lane, span);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.second.begin_ns, a.first.rank, a.first.lane) <
           std::tuple(b.second.begin_ns, b.first.rank, b.first.lane);
  });
  REQUIRE(all.size() == 6);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto next = in_time(*view, emulated, all[i].first, all[i].second, +1);
    const auto before = in_time(*view, emulated, all[i].first, all[i].second, -1);
    INFO(to_token(all[i].second.op));
    CHECK(next.has_value() == (i + 1 < all.size()));
    CHECK(before.has_value() == (i > 0));
    if (next && i + 1 < all.size()) CHECK(next->second == all[i + 1].second);
    if (before && i > 0) CHECK(before->second == all[i - 1].second);
  }
}
