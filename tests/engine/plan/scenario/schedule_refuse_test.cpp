// The schedules that a plan may name, and settings that cannot be combined with one.
#include <string>
#include <vector>

#include "engine/plan/scenario/choices.hpp"
#include "engine/plan/schedule/schedule.hpp"
#include "tests/engine/plan/scenario/refusal.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("invalid chunks and micro-batches of a schedule are refused with valid ones") {
  const Row rows[] = {
      {"[plan]\npipeline = 2\nvirtual = 2\n",
       {},
       "s.toml:3:1: virtual = 2 does not fit schedule \"1f1b\", which runs one chunk on each stage; virtual = 1 would "
       "do"},
      {"[plan]\npipeline = 2\nschedule = \"zb-v\"\n",
       {},
       "s.toml:3:1: virtual = 1 does not fit schedule \"zb-v\", which runs exactly two chunks on each stage; virtual = "
       "2 would do"},
      {"[plan]\npipeline = 2\nschedule = \"zb-v\"\nvirtual = 3\n",
       {},
       "s.toml:4:1: virtual = 3 does not fit schedule \"zb-v\", which runs exactly two chunks on each stage; virtual = "
       "2 would do"},
      {"[train]\nglobal_batch = 12\n[plan]\npipeline = 4\nvirtual = 2\nschedule = \"interleaved\"\nmicro_batches = 6\n",
       {},
       "s.toml:7:1: schedule \"interleaved\" takes micro-batches in groups of as many as there are stages, and 6 is no "
       "multiple of 4; micro_batches = 4 or 12 would do"},
      {"[plan]\nschedule = \"by-hand\"\n",
       {},
       "s.toml:2:1: schedule \"by-hand\" needs an order: a line for each stage, such as \"stage 0: F:c0:m0 B:c0:m0\"; "
       "give one, or schedule = \"1f1b\""},
      {"[plan]\nschedule = \"by-hand\"\npipeline = 2\nvirtual = 2\n",
       {},
       "s.toml:2:1: schedule \"by-hand\" needs an order: a line for each stage, such as \"stage 0: F:c0:m0 B:c0:m0\"; "
       "give one, or schedule = \"zb-v\""},
      {"[plan]\nschedule = \"by-hand\"\npipeline = 2\nvirtual = 3\n",
       {},
       "s.toml:2:1: schedule \"by-hand\" needs an order: a line for each stage, such as \"stage 0: F:c0:m0 B:c0:m0\"; "
       "give one, or schedule = \"1f1b\" and virtual = 1"},
      {"[model]\nkind = \"resnet\"\nimage = 32\n[plan]\ndata = 2\npipeline = 4\nvirtual = 2\nschedule = "
       "\"interleaved\"\n[train]\nglobal_batch = 6\n",
       {},
       "s.toml:8:1: schedule \"interleaved\" takes micro-batches in groups of as many as there are stages, and 1 is no "
       "multiple of 4; micro_batches = 4 and global_batch = 16 would do"},
      {"[plan]\norder = \"stage 0: F:c0:m0 B:c0:m0\"\n",
       {},
       "s.toml:2:1: an order is that of schedule \"by-hand\", and the schedule is \"1f1b\"; remove order, or give "
       "schedule = \"by-hand\""},
      {"[plan]\npipeline = 4\nstages = \"3 2 2\"\n",
       {},
       "s.toml:3:1: stages = \"3 2 2\" lists 3 of together 7 layers, and there are 4 stages of together 8 layers; "
       "stages = \"even\" would do"},
      {"[plan]\npass_times = \"1 1 0 0 1\"\n",
       {},
       "s.toml:2:1: pass_times = \"1 1 0 0 1\" should be five numbers: what a forward, an input gradient, a weight "
       "gradient and a message take, and the share of activations that is kept for the last (up to 1); pass_times = "
       "\"1 1 0.5 0.03 0.4\" would do"},
      {"[plan]\npipeline = 4\nstages = \"3 0 2 3\"\n",
       {},
       "s.toml:3:1: stages = \"3 0 2 3\" has a chunk of nothing: only the first and the last, which have the embedding "
       "and the head, can be without layers; stages = \"even\" would do"},
      {"[plan]\npipeline = 4\nstages = \"3 -1 2 4\"\n",
       {},
       "s.toml:3:1: stages = \"3 -1 2 4\" is neither \"even\" nor \"cost\" nor \"measured\" nor a list of layers such "
       "as \"3 2 2 1\"; stages = \"even\" would do"},
      {"[plan]\npipeline = 4\nvirtual = 3\nschedule = \"interleaved\"\n",
       {},
       "s.toml:2:1: 8 layers cannot be split over 12 chunks; each needs a layer of its own, so at least layers = 12, "
       "or pipeline at most 1"},
  };
  for (const Row& row : rows) check(row);
}
