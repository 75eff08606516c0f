// Keys and codes as text: Z85, five characters for four bytes.
#pragma once
#include <zmq.h>

#include <array>
#include <cstdint>
#include <string>

namespace rankscope {

inline constexpr std::size_t z85_key_length = 40;  ///< of 32 bytes

template <class Byte, std::size_t bytes>
std::string z85(const std::array<Byte, bytes>& raw) {
  std::array<char, bytes * 5 / 4 + 1> text{};
  zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size());
  return text.data();
}

/// False for anything but the text of this number of bytes.
template <std::size_t bytes>
bool from_z85(const std::string& text, std::array<std::uint8_t, bytes>& raw) {
  return text.size() == bytes * 5 / 4 && zmq_z85_decode(raw.data(), text.c_str()) != nullptr;
}

inline bool is_z85_key(const std::string& text) {
  std::array<std::uint8_t, 32> raw;
  return from_z85(text, raw);
}

}  // namespace rankscope
