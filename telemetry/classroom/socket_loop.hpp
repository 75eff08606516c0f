// What both sides of a class have in common: a socket served by a thread of its own, and one way to hand it work. For
// this folder's own files.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

namespace rankscope::classroom {

inline constexpr std::chrono::milliseconds look_interval{1000};  ///< between two looks that are the same
inline constexpr std::chrono::milliseconds silence_limit{5000};  ///< a side not heard of for so long is not here
inline constexpr std::chrono::milliseconds loop_interval{30};    ///< how long a change may wait until it is told

/// One frame without waiting; false when there is no room or nobody there.
inline bool send_frame(zmq::socket_t& socket, const std::string& bytes, zmq::send_flags flags = zmq::send_flags::none) {
  try {
    return socket.send(zmq::buffer(bytes), flags | zmq::send_flags::dontwait).has_value();
  } catch (const zmq::error_t&) {
    return false;  // the peer has just gone
  }
}

/// A message of exactly so many frames, the others are dropped whole. nullopt when there is none; frames empty when it
/// had another number.
inline std::optional<std::vector<std::string>> receive_frames(zmq::socket_t& socket, std::size_t count) {
  std::vector<std::string> frames;
  zmq::message_t frame;
  if (!socket.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
  std::size_t seen = 1;
  frames.push_back(frame.to_string());
  while (frame.more() && socket.recv(frame, zmq::recv_flags::dontwait))
    if (++seen <= count) frames.push_back(frame.to_string());
  if (seen != count) frames.clear();
  return frames;
}

}  // namespace rankscope::classroom
