// The bytes of a spool file, shared by its writer and its reader.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>

#include "telemetry/event/event.hpp"

namespace rankscope::spool_format {

inline constexpr std::array<char, 8> magic{'R', 'S', 'S', 'P', 'O', 'O', 'L', '1'};
inline constexpr std::size_t header_bytes = 32;
inline constexpr std::size_t frame_header_bytes = 8;  ///< length and CRC-32 of the payload, both little-endian
inline constexpr std::uint32_t longest_frame = std::uint32_t{256} << 20;

struct Header {
  SessionId session{};
  std::int32_t rank = 0;
  std::uint32_t segment = 0;
};

template <class U>
void put(std::byte* at, U value) {
  for (std::size_t i = 0; i < sizeof value; ++i) at[i] = static_cast<std::byte>(value >> (8 * i) & 0xFF);
}
template <class U>
U get(const std::byte* at) {
  U value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= static_cast<U>(std::to_integer<U>(at[i]) << (8 * i));
  return value;
}

inline std::array<std::byte, header_bytes> pack(const Header& header) {
  std::array<std::byte, header_bytes> bytes{};
  std::memcpy(bytes.data(), magic.data(), magic.size());
  std::memcpy(bytes.data() + 8, header.session.data(), header.session.size());
  put(bytes.data() + 24, static_cast<std::uint32_t>(header.rank));
  put(bytes.data() + 28, header.segment);
  return bytes;
}

inline bool unpack(const std::byte* bytes, Header& header) {
  if (std::memcmp(bytes, magic.data(), magic.size()) != 0) return false;
  std::memcpy(header.session.data(), bytes + 8, header.session.size());
  header.rank = static_cast<std::int32_t>(get<std::uint32_t>(bytes + 24));
  header.segment = get<std::uint32_t>(bytes + 28);
  return true;
}

}  // namespace rankscope::spool_format
