// A GPT-2 style model. Internal to the room: make_model chooses.
#pragma once
#include "engine/plan/model/model.hpp"

namespace rankscope {

/// Adds parameters, segments and exchanges to a model with spec, micro-batch and type, as one tensor rank of the
/// scenario's plan sees it. Throws std::invalid_argument when heads or rows cannot be divided.
void make_gpt(Model& model, const Scenario& scenario);

/// Model::model_flops_per_sample.
double gpt_flops_per_sample(const ModelSpec& spec);

}  // namespace rankscope
