// The platform "cpu" alone, for what needs neither a GPU's kernels nor their libraries.
#pragma once
#include "engine/execute/run/platform.hpp"

namespace rankscope {

/// With so many threads for a launch.
std::shared_ptr<const Platform> open_host_platform(int threads = 1);

}  // namespace rankscope
