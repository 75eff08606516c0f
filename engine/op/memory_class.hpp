// The classes of the memory ledger, and bytes by class: used by programs, runs, telemetry and views.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace rankscope {

/// The classes of data in device memory, and one for all data in host memory. On the CPU both are the same RAM but
/// are still counted separately. This is the order on the wire: append new ones at the end.
enum class MemoryClass : std::uint8_t {
  parameters,
  gradients,
  optimizer,
  activations,
  buffers,
  host,
  workspace,  ///< of kernels (of a library's products, of attention), of communicators: outside the program's buffers
  context,    ///< memory used by the device's driver and libraries: contexts, code, handles
  unclassified,  ///< all that another program's allocator has given out: an imported run does not say for what
};
inline constexpr int memory_class_count = 9;
std::string_view name_of(MemoryClass memory);

/// Bytes by memory class.
using ClassBytes = std::array<std::int64_t, memory_class_count>;
/// Of the device: all classes but the host's.
inline std::int64_t device_sum(const ClassBytes& bytes) {
  std::int64_t sum = 0;
  for (int c = 0; c < memory_class_count; ++c)
    if (static_cast<MemoryClass>(c) != MemoryClass::host) sum += bytes[c];
  return sum;
}

}  // namespace rankscope
