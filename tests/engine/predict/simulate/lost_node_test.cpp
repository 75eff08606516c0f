#include "engine/plan/scenario/lost_node.hpp"

#include "engine/plan/scenario/read.hpp"
#include "engine/predict/fold/folded.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

/// Tensor 4 on nodes of eight: two replicas of a stage share a node, and a stage has four nodes.
Scenario eight_replicas() {
  Scenario s = parse_scenario("[cluster]\nspec = \"selene\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = {"gpt", 16, 4096, 32, 2048, 51200, true, 0.1};
  s.plan.data = 8;
  s.plan.tensor = 4;
  s.plan.pipeline = 2;
  s.plan.micro_batches = 16;
  s.plan.precision = "fp16";
  s.plan.recompute = "blocks";
  s.train.global_batch = 256;
  return s;
}

}  // namespace

TEST_CASE("a lost node takes the replicas that had ranks there, with their samples") {
  Scenario s = eight_replicas();
  CHECK_FALSE(after_lost_node(s));
  for (const int node : {0, 3, 7}) {  // nodes of the first and of the second stage
    s.cluster.lost_node = node;
    const auto after = after_lost_node(s);
    REQUIRE(after);
    CHECK(after->replicas_lost == 2);
    CHECK(after->scenario.plan.data == 6);
    CHECK(after->scenario.train.global_batch == 192);
    CHECK(after->scenario.micro_batch_size() == s.micro_batch_size());
    CHECK(after->scenario.cluster.nodes == s.cluster.nodes - 1);
    // A step has a quarter fewer samples; six replicas exchange slightly less than eight.
    Scenario whole = s;
    whole.cluster.lost_node = -1;
    const double before = fold_step(whole).seconds, now = fold_step(after->scenario).seconds;
    CHECK(now <= before);
    CHECK(now > 0.9 * before);
  }
  s.cluster.lost_node = 8;  // the plan has ranks on nodes 0 to 7
  CHECK(after_lost_node(s)->replicas_lost == 0);
}

TEST_CASE("if every replica had a rank on the lost node nothing continues, with the reason") {
  Scenario s = eight_replicas();
  s.plan.data = 1;
  s.train.global_batch = 32;
  s.cluster.lost_node = 0;
  CHECK_THROWS_WITH(after_lost_node(s), ContainsText("every replica of the model has a rank on that node"));
  s.plan.data_parallel = "main-device";
  CHECK_THROWS_WITH(after_lost_node(s), ContainsText("main-device"));
}

TEST_CASE("a search is over what remains: the replicas, or without any the ranks on the other nodes") {
  Scenario s = eight_replicas();
  CHECK(left_to_search(s).plan == s.plan);
  s.cluster.lost_node = 3;
  CHECK(left_to_search(s).plan == after_lost_node(s)->scenario.plan);
  CHECK(left_to_search(s).train.global_batch == 192);

  s.plan.data = 1;
  s.plan.pipeline = 16;  // tensor 4: eight nodes, all of them with the only replica
  s.train.global_batch = 32;
  const Scenario others = left_to_search(s);
  CHECK(others.plan.ranks() == 56);
  CHECK(others.train.global_batch == 32);
  CHECK(others.cluster.lost_node == -1);
  CHECK(others.cluster.nodes == s.cluster.nodes - 1);
  s.cluster.lost_node = 8;  // the plan has no rank there
  CHECK(left_to_search(s).plan.ranks() == 64);

  s.plan.pipeline = 2;  // the plan uses one node, which is lost
  s.cluster.lost_node = 0;
  CHECK_THROWS_WITH(left_to_search(s), ContainsText("With a spare node"));
}

TEST_CASE("the rest is described in one line, with the keys of the plan that continues") {
  Scenario s = eight_replicas();
  s.cluster.lost_node = 3;
  CHECK(describe_after_loss(*after_lost_node(s), 3) ==
        "node 3 is lost, and with it 2 of 8 replicas: 48 ranks go on (plan.data = 6, train.global_batch = 192), and "
        "the other 8 ranks of those replicas have nothing to do");
  s.cluster.lost_node = 8;
  CHECK(describe_after_loss(*after_lost_node(s), 8) == "node 8 is lost, on which this plan has no rank");
}
