// The kinds of models. Internal to the room: make_model chooses.
#pragma once
#include "engine/plan/model/model.hpp"

namespace rankscope {

/// A GPT-2 or Llama style model. Adds parameters, segments and exchanges to a model with spec, micro-batch and type, as
/// one tensor rank of the scenario's plan sees it. Throws std::invalid_argument when heads or rows cannot be divided.
void make_transformer(Model& model, const Scenario& scenario);
/// Model::model_flops_per_sample.
double transformer_flops_per_sample(const ModelSpec& spec);

/// A residual network. Adds parameters and segments to a model with spec, micro-batch and type. Throws
/// std::invalid_argument when there is no such network, or the scenario's plan has tensor ranks.
void make_resnet(Model& model, const Scenario& scenario);
/// Model::model_flops_per_sample: all convolutions and the classifier's product, three times each, except for the first
/// convolution, whose input has no gradient.
double resnet_flops_per_sample(const Model& model);

}  // namespace rankscope
