// SPDX-License-Identifier: GPL-3.0-or-later
// Classes of memory as the memory view stacks and lists them.
#pragma once
#include <array>

#include "engine/program/program.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// From the bottom of a stack; the host's memory stands apart.
inline constexpr std::array device_classes{MemoryClass::parameters,  MemoryClass::gradients, MemoryClass::optimizer,
                                           MemoryClass::activations, MemoryClass::buffers,   MemoryClass::workspace,
                                           MemoryClass::context};
static_assert(device_classes.size() + 1 == memory_class_count);

inline double of(const ClassBytes& bytes, MemoryClass memory) {
  return static_cast<double>(bytes[static_cast<std::size_t>(memory)]);
}

}  // namespace rankscope::app
