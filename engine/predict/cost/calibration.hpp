// Measured costs of a machine's ops: measured once, used to predict.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/predict/cost/costs.hpp"
#include "engine/predict/cost/signature.hpp"

namespace rankscope {

struct Calibration {
  struct Entry {
    std::int64_t ns = 0;  ///< median
    int samples = 0;
    std::string what;  ///< describe_signature's text
  };
  std::unordered_map<OpSignature, Entry> ops;
  Link link;  ///< between any two ranks of the machine
};

/// One measured run of an op.
struct CostSample {
  std::int32_t rank = 0;
  OpIndex op = 0;
  std::int64_t ns = 0;
};

/// The median per signature. Samples of communications are ignored.
Calibration calibrate(const std::vector<RankProgram>& programs, const std::vector<CostSample>& samples, Link link);

/// Costs of the measured signatures, and of `otherwise` (such as modelled_costs) for those that were not measured.
/// Messages and collectives use the calibration's link.
Costs calibrated_costs(Calibration calibration, Costs otherwise);

}  // namespace rankscope
