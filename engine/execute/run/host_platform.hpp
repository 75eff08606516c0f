// The platform "cpu" only, for code that needs neither GPU kernels nor their libraries.
#pragma once
#include "engine/execute/run/platform.hpp"

namespace rankscope {

/// With this many threads per launch.
std::shared_ptr<const Platform> open_host_platform(int threads = 1);

}  // namespace rankscope
