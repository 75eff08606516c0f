// The fast paths of a GPU that a run uses: the words of --without, and the line that lists them.
#pragma once
#include <span>
#include <string>

#include "engine/execute/run/platform.hpp"

namespace rankscope {

/// Options of a GPU's kernels with all fast paths but these. Kernel sets created with copies of them choose the same
/// algorithms. Throws std::invalid_argument for an unknown word.
kernels::Options without_paths(std::span<const std::string> words);

/// "NVIDIA H100, cuBLASLt 13.0.2 (its file), fast paths: attention, gelu, norm, measured; without: bias-gradient"
std::string gpu_line(const Platform& platform);

}  // namespace rankscope
