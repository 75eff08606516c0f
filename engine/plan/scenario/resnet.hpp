// The supported residual networks, and checks of their scenarios.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Blocks of each of the four stages of a network with this total number of them: 16 of ResNet-50, 33 of -101, 50 of
/// -152 (He et al. 2016, arXiv 1512.03385, table 1); and 4 and 8, one and two in every stage, for small machines.
/// nullopt for other numbers.
std::optional<std::array<int, 4>> resnet_stages(int blocks);

/// Unsupported options of a resnet scenario, if any.
std::optional<Complaint> resnet_complaint(const Scenario& scenario);

}  // namespace rankscope
