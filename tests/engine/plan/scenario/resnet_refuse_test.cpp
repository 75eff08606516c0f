// Refused scenarios of residual networks.
#include <string>

#include "tests/engine/plan/scenario/refusal.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("keys that a resnet does not have are refused") {
#define RESNET "[model]\nkind = \"resnet\"\nlayers = 16\nwidth = 64\n"
  const Row rows[] = {
      {"[model]\nkind = \"resnet\"\nlayers = 12\n",
       {},
       "s.toml:3:1: there is no resnet of 12 blocks; layers = 16 is ResNet-50, 33 ResNet-101, 50 ResNet-152, and 4 and "
       "8 "
       "are small ones"},
      {RESNET "[plan]\ntensor = 2\n",
       {},
       "s.toml:6:1: a resnet's convolutions cannot be split over tensor ranks; use tensor = 1, and pipeline or data"},
      {RESNET "[plan]\nrecompute = \"selective\"\n",
       {},
       "s.toml:6:1: recompute \"selective\" needs attention, which a resnet does not have; use recompute = \"blocks\" "
       "or "
       "\"sqrt\""},
      {RESNET "dropout = 0.1\n", {}, "s.toml:5:1: a resnet has no dropout; use dropout = 0"},
      {RESNET "[data]\nsource = \"text:book.txt\"\n",
       {},
       "s.toml:6:1: a resnet's images are synthetic; use source = \"synthetic\", not \"text:book.txt\""},
      {RESNET "image = 32\n[plan]\nmicro_batches = 4\n[train]\nglobal_batch = 4\n",
       {},
       "s.toml:9:1: a micro-batch of one image of 32 pixels a side ends as a single pixel, whose batch norm is of one "
       "number; image = 33 would do, or global_batch = 8"},
      {RESNET "image = 33\n[plan]\ndata = 4\n[train]\nglobal_batch = 2\n",
       {},
       "s.toml:7:1: global_batch 2 cannot be cut into 4 data-parallel ranks × 1 micro-batch of whole samples; "
       "global_batch = 4 would do"},
  };
  for (const Row& row : rows) check(row);
  CHECK_NOTHROW(parse_scenario(RESNET, "s.toml"));
#undef RESNET
}
