// Which of a GPU's fused paths a run uses: the words of --unfused, and the line that says so.
#pragma once
#include <span>
#include <string>

#include "engine/execute/run/platform.hpp"

namespace rankscope {

/// Options of a GPU's kernels without these paths. Throws std::invalid_argument for a word that is none.
kernels::Options without_paths(std::span<const std::string> unfused);

/// "NVIDIA H100, cuBLASLt 13.0.2 (its file), fused: attention, gelu; separate kernels: bias-gradient"
std::string gpu_line(const Platform& platform);

}  // namespace rankscope
