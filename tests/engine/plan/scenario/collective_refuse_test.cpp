// Refused scenarios of a single collective.
#include <string>

#include "tests/engine/plan/scenario/refusal.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("keys that a collective alone does not use are refused, in one line with the remedy") {
#define ALONE "[model]\nkind = \"collective\"\n"
  const Row rows[] = {
      {ALONE "operation = \"alltoall\"\n",
       {},
       "s.toml:3:1: unknown operation 'alltoall'; did you mean 'all-to-all'? there is broadcast, scatter, reduce, "
       "all-reduce, gather, all-gather, reduce-scatter and all-to-all"},
      {ALONE "bytes = 0\n",
       {},
       "s.toml:3:1: bytes = 0 is out of range; it must be at least 1 and at most 1099511627776"},
      {ALONE "operation = \"scatter\"\nroot = 8\n[plan]\ndata = 8\n",
       {},
       "s.toml:4:1: root is 8, and ranks are numbered 0 to 7; give a smaller one, such as root = 7"},
      {ALONE "[plan]\ntensor = 2\n",
       {},
       "s.toml:4:1: a collective alone is among plan.data ranks and has no use for tensor = 2; use tensor = 1"},
      {ALONE "[plan]\nschedule = \"gpipe\"\n",
       {},
       "s.toml:4:1: a collective alone is among plan.data ranks and has no use for schedule = \"gpipe\"; use schedule "
       "= "
       "\"1f1b\""},
      {ALONE "[plan]\ndata = 2000\n",
       {},
       "s.toml:4:1: a collective alone is among at most 1024 ranks, and data is 2000; data = 1024 would do"},
      {ALONE "[plan]\ndata = 300\nprecision = \"bf16\"\n",
       {},
       "s.toml:5:1: a sum over 300 ranks cannot be checked in bf16, which counts to 256; use precision = \"fp32\""},
      {ALONE "[train]\ncheckpoint_every = 5\n",
       {},
       "s.toml:4:1: a single collective trains nothing to save in a checkpoint; use checkpoint_every = 0"},
      {ALONE "[fault]\nplant = \"overflow\"\n",
       {},
       "s.toml:4:1: a collective alone has no fault \"overflow\" to plant; use plant = \"lost_part\", or remove it"},
      {"[fault]\nplant = \"lost_part\"\n",
       {},
       "s.toml:2:1: the fault \"lost_part\" is of a collective alone; use it with kind = \"collective\" in [model], or "
       "remove it"},
      {ALONE "[plan]\ndata = 8\n[cluster]\nspec = \"laptop\"\nnodes = 1\ndevices_per_node = 4\n",
       {},
       "s.toml:4:1: the plan has 8 ranks, and cluster 'laptop' has 4 devices (1 node of 4); use fewer ranks, or set "
       "cluster.nodes = 0 for as many nodes as it takes"},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("a collective alone ignores the batch, and also the root unless it has one") {
  CHECK_NOTHROW(parse_scenario(ALONE "[plan]\ndata = 7\n[train]\nglobal_batch = 8\n", "s.toml"));
  CHECK_NOTHROW(parse_scenario(ALONE "operation = \"all-reduce\"\nroot = 99\n[plan]\ndata = 8\n", "s.toml"));
  CHECK_NOTHROW(
      parse_scenario(ALONE "operation = \"all-gather\"\n[plan]\ndata = 300\nprecision = \"bf16\"\n", "s.toml"));
#undef ALONE
}

TEST_CASE("a collective alone is written and read back") {
  const Scenario s = parse_scenario(
      "[model]\nkind = \"collective\"\noperation = \"reduce-scatter\"\nbytes = 5e6\n[plan]\ndata = 8\n", "s.toml");
  CHECK(s.model.operation_kind() == OpKind::reduce_scatter);
  CHECK(parse_scenario(to_toml(s), "again.toml").model == s.model);
}
