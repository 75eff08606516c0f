// What both sides of a class have in common: a socket served by its own thread, and a way to give it work. For
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

/// One frame without waiting; false when there is no room or nobody there, and `gone` says which.
inline bool send_frame(zmq::socket_t& socket, const std::string& bytes, zmq::send_flags flags = zmq::send_flags::none,
                       bool* gone = nullptr) {
  try {
    return socket.send(zmq::buffer(bytes), flags | zmq::send_flags::dontwait).has_value();
  } catch (const zmq::error_t&) {
    if (gone != nullptr) *gone = true;
    return false;
  }
}

/// A message of exactly so many frames, the others are dropped whole. nullopt when there is none; frames empty when it
/// had another number. `address`: of the peer, as the system tells.
inline std::optional<std::vector<std::string>> receive_frames(zmq::socket_t& socket, std::size_t count,
                                                              std::string* address = nullptr) {
  std::vector<std::string> frames;
  zmq::message_t frame;
  if (!socket.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
  std::size_t seen = 1;
  frames.push_back(frame.to_string());
  while (frame.more() && socket.recv(frame, zmq::recv_flags::dontwait))
    if (++seen <= count) frames.push_back(frame.to_string());
  if (address != nullptr) {
    const char* from = zmq_msg_gets(frame.handle(), "Peer-Address");
    *address = from != nullptr ? from : "";
  }
  if (seen != count) frames.clear();
  return frames;
}

}  // namespace rankscope::classroom
