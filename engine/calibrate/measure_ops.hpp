// What this machine's ops take, by their sizes: the rows of scenarios/measured/NAME.toml.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/scenario/scenario.hpp"

namespace rankscope {

/// CPU time of ops by kind, segment, FLOPs and bytes: the median over all passes, which may be spread over the time in
/// which a machine's pace drifts.
class OpMeasurement {
 public:
  /// The ops of one rank of each scenario, run without its peers on every core at once (cores share caches), each on
  /// `threads` threads for some steps; of model ops those of the latter micro-batches, which add to gradients. Plans of
  /// several ranks are measured as their first one. Throws PlanError and DataError.
  void pass(const std::vector<Scenario>& scenarios, int threads = 1);
  /// The samples of another one, too.
  void add(const OpMeasurement& other);
  std::vector<MeasuredCost> costs() const;

 private:
  using Size = std::tuple<std::string, std::string, double, double>;  // op, precision, FLOPs, bytes
  std::map<Size, std::vector<std::int64_t>> samples_;
};

/// Small models of many sizes and all kinds of ops, which cost seconds to measure: widths from 64 to 320, 256 to 1,024
/// tokens a micro-batch, whole and split over tensor ranks, joint and split backwards.
std::vector<Scenario> measured_sizes(const std::string& precision);

}  // namespace rankscope
