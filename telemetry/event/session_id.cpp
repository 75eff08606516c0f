#include <fmt/format.h>

#include <cstring>
#include <random>

#include "telemetry/event/codec.hpp"

namespace rankscope {

std::string to_string(const SessionId& session) { return fmt::format("{:02x}", fmt::join(session, "")); }

bool parse_session(std::string_view text, SessionId& session) {
  if (text.size() != 2 * session.size()) return false;
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  SessionId parsed;
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    parsed[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  session = parsed;
  return true;
}

SessionId new_session_id() {
  std::random_device random;
  SessionId session;
  for (std::size_t i = 0; i < session.size(); i += 4) {
    const std::uint32_t word = random();
    std::memcpy(session.data() + i, &word, sizeof word);
  }
  return session;
}

}  // namespace rankscope
