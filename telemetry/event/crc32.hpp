// CRC-32 as in zlib, PNG and MCAP (IEEE 802.3, reflected): the checksum of frames in spools and traces.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace rankscope {

/// Of `bytes` following data whose checksum is `before`.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace rankscope
