// Which residual networks there are, and what a scenario of one can ask for.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Blocks of each of the four stages of the network that has so many blocks in all: 16 of ResNet-50, 33 of -101, 50 of
/// -152 (He et al. 2016, arXiv 1512.03385, table 1); and 4 and 8, one and two in every stage, for small machines.
/// nullopt for other numbers.
std::optional<std::array<int, 4>> resnet_stages(int blocks);

/// What a scenario of a resnet asks for that there is not, if anything.
std::optional<Complaint> resnet_complaint(const Scenario& scenario);

}  // namespace rankscope
