#include "engine/predict/cost/calibration.hpp"

namespace rankscope {

Calibration calibrate(const std::vector<RankProgram>& programs, const std::vector<CostSample>& samples, Link link) {
  Calibration calibration;
  calibration.link = link;
  std::unordered_map<OpSignature, std::vector<std::int64_t>> by_signature;
  for (const CostSample& sample : samples) {
    const RankProgram& program = programs.at(static_cast<std::size_t>(sample.rank));
    const Op& op = program.ops.at(sample.op);
    if (is_communication(op.id.kind())) continue;
    const OpSignature signature = signature_of(program, op);
    by_signature[signature].push_back(sample.ns);
    auto& entry = calibration.ops[signature];
    if (entry.samples++ == 0) entry.what = describe_signature(program, op);
  }
  for (auto& [signature, values] : by_signature) calibration.ops[signature].ns = median(std::move(values));
  return calibration;
}

Costs calibrated_costs(Calibration calibration, Costs otherwise) {
  Costs costs;
  costs.link = [link = calibration.link](int, int) { return link; };
  costs.compute_ns = [calibration = std::move(calibration), otherwise = std::move(otherwise.compute_ns)](
                         const RankProgram& program, const Op& op) {
    const auto found = calibration.ops.find(signature_of(program, op));
    return found != calibration.ops.end() ? found->second.ns : otherwise(program, op);
  };
  return costs;
}

}  // namespace rankscope
