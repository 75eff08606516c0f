// Measures the times of this machine's ops by size: the rows of scenarios/measured/NAME.toml.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// CPU time of ops by kind, segment and work (OpWork): the mean over all passes, which may extend over the time in
/// which a machine's speed drifts. Not the median: an op's time has a long tail, and a step is a sum of ops.
class OpMeasurement {
 public:
  /// The ops of one rank of each scenario, run without its peers on every core at once (cores share caches), each on
  /// `threads` threads for some steps; for model ops those of later micro-batches, which add to gradients. Plans of
  /// several ranks are measured as their first one. Throws PlanError and DataError.
  void pass(const std::vector<Scenario>& scenarios, int threads = 1);
  /// Adds the samples of another one.
  void add(const OpMeasurement& other);
  std::vector<MeasuredCost> costs() const;

 private:
  /// Op, precision, FLOPs, bytes, walked bytes.
  using Size = std::tuple<std::string, std::string, double, double, double>;
  std::map<Size, std::vector<std::int64_t>> samples_;
};

/// Small models of many sizes and all kinds of ops, measured in seconds: widths from 64 to 320, 256 to 1,024
/// tokens a micro-batch, whole and split over tensor ranks, joint and split backwards. Half of the widths and contexts
/// are not powers of two: powers fill the kernels' vectors and tiles, and after fits to almost only these, ops of
/// blocks 192 wide with 96 tokens were predicted 3 % too fast in sum (on a Xeon).
std::vector<Scenario> measured_sizes(Precision precision);

}  // namespace rankscope
