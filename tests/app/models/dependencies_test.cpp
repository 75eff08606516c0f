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

/// A step in which rank 1 has these ops, and each depends on those at its `after` positions; rank 0 sends the message.
Step step_of(std::initializer_list<const char*> tokens, std::initializer_list<std::pair<int, int>> after = {}) {
  Step step;
  const auto add = [&](const char* token) {
    step.ids.push_back(op(token));
    step.exchange.push_back(nobody);
  };
  add("SEND.pipeline_forward:c0:m0");
  step.first.push_back(1);
  for (const char* token : tokens) add(token);
  step.first.push_back(static_cast<Node>(step.ids.size()));
  step.after.close_row();
  for (int own = 0; own < static_cast<int>(tokens.size()); ++own) {
    for (const auto& [later, earlier] : after)
      if (later == own) step.after.items.push_back(static_cast<Node>(1 + earlier));
    step.after.close_row();
  }
  for (std::size_t i = 0; i < step.nodes(); ++i) step.after_previous.close_row();
  step.members.items = {0, 1};
  step.members.close_row();
  step.exchanges.emplace_back();
  step.exchange[0] = step.exchange[1] = 0;
  return step;
}

}  // namespace

TEST_CASE("an op waited for the dependency that ended last") {
  const auto run = two_stages();
  const auto view = run->view();
  const Step step = step_of({"RECV.pipeline_forward:c1:m0", "F:c1:m0", "B:c1:m0"}, {{1, 0}});
  const Span forward = view->find(1, 0, op("F:c1:m0"), emulated).value();
  const auto needs = dependencies_of(*view, step, emulated, forward);
  REQUIRE(needs.size() == 1);
  CHECK(needs[0].needs == Needs::data);
  CHECK(dependency_lines(*view, needs, forward) ==
        std::vector<std::string>{"waited for: receive of activations, micro-batch 0 (ended 2.00 µs earlier)"});

  const Span backward = view->find(1, 0, op("B:c1:m0"), emulated).value();
  const auto lane = dependencies_of(*view, step, emulated, backward);
  REQUIRE(lane.size() == 1);
  CHECK(lane[0].needs == Needs::lane);
  CHECK(lane[0].op == op("F:c1:m0"));
}

TEST_CASE("an op does not wait for one that began before it on its lane and ends after it") {
  KnownRun run;
  run.span(1, 0, "F:c1:m0", 0, 500).span(1, 0, "B:c1:m0", 100, 200).span(1, 0, "F:c1:m1", 150, 600);
  const auto view = run.view();
  const Step step = step_of({"F:c1:m0", "B:c1:m0", "F:c1:m1"});
  const auto needs = [&](const char* token) {
    return dependencies_of(*view, step, emulated, view->find(1, 0, op(token), emulated).value());
  };
  CHECK(needs("B:c1:m0").empty());
  REQUIRE(needs("F:c1:m1").size() == 1);
  CHECK(needs("F:c1:m1")[0].op == op("B:c1:m0"));
}

TEST_CASE("a receive waits for its sender, which may arrive after the receive began") {
  const auto run = two_stages();
  const auto view = run->view();
  const Step step = step_of({"RECV.pipeline_forward:c1:m0", "F:c1:m0"});
  const Span receive = view->find(1, 0, op("RECV.pipeline_forward:c1:m0"), emulated).value();
  const auto needs = dependencies_of(*view, step, emulated, receive);
  REQUIRE(needs.size() == 1);
  CHECK(needs[0].needs == Needs::peer);
  CHECK(needs[0].rank == 0);
  CHECK(dependency_lines(*view, needs, receive).front() ==
        "waited for: send of activations, micro-batch 0, rank 0 (began 100 µs later)");
}

TEST_CASE("missing ops are listed as missing, after the present ones") {
  const auto run = two_stages();
  const auto view = run->view();
  const Step step = step_of({"RECV.pipeline_forward:c1:m0", "LOAD:c1:m0", "F:c1:m0"}, {{2, 0}, {2, 1}});
  const Span forward = view->find(1, 0, op("F:c1:m0"), emulated).value();
  const auto lines = dependency_lines(*view, dependencies_of(*view, step, emulated, forward), forward);
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
