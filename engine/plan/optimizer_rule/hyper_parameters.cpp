#include "engine/plan/optimizer_rule/hyper_parameters.hpp"

namespace rankscope {

HyperParameters resolved(const HyperParameters& given, const HyperParameters& defaults) {
  HyperParameters result;
  const auto resolve = [&](auto HyperParameters::*key) {
    if (defaults.*key) result.*key = given.*key ? given.*key : defaults.*key;
  };
  resolve(&HyperParameters::weight_decay);
  resolve(&HyperParameters::momentum);
  resolve(&HyperParameters::nesterov);
  resolve(&HyperParameters::beta1);
  resolve(&HyperParameters::beta2);
  resolve(&HyperParameters::epsilon);
  resolve(&HyperParameters::beta2_decay);
  resolve(&HyperParameters::epsilon2);
  resolve(&HyperParameters::update_clip);
  resolve(&HyperParameters::gamma);
  resolve(&HyperParameters::hessian_interval);
  resolve(&HyperParameters::trust);
  return result;
}

}  // namespace rankscope
