#include "telemetry/event/crc32.hpp"

#include <libdeflate.h>

namespace rankscope {

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  // For an empty range libdeflate returns the start value.
  return bytes.empty() ? before : libdeflate_crc32(before, bytes.data(), bytes.size());
}

}  // namespace rankscope
