// A scenario with a single collective, for the tests of all folders.
#pragma once
#include <algorithm>
#include <string>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope::test {

inline Scenario one_collective(OpKind kind, int ranks, double bytes, int root, const std::string& algorithm = "ring") {
  Scenario s;
  s.title = "one collective";
  std::string name(name_of(kind));
  std::replace(name.begin(), name.end(), '_', '-');
  s.model.kind = ModelKind::collective;
  s.model.operation = name;
  s.model.bytes = bytes;
  s.model.root = root;
  s.plan.data = ranks;
  s.plan.collective = algorithm;
  s.train.steps = 2;
  s.cluster.spec = "test";
  s.cluster.software.collectives = Collectives::engine;
  s.cluster.peak_flops_fp32 = s.cluster.peak_flops_fp64 = s.cluster.peak_flops_bf16 = s.cluster.peak_flops_fp16 = 1e9;
  s.cluster.memory_bandwidth = 1e9;
  s.cluster.devices_per_node = 16;
  s.cluster.intra_latency_s = 1e-3;
  s.cluster.intra_bandwidth = 1e6;
  return s;
}

}  // namespace rankscope::test
