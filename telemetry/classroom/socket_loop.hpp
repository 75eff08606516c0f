// Shared by both sides of a class: a socket served by its own thread, and its sending and receiving. Only for this
// folder's files.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

namespace rankscope::classroom {

inline constexpr std::chrono::milliseconds look_interval{1000};  ///< between two identical looks
inline constexpr std::chrono::milliseconds silence_limit{5000};  ///< a side silent for longer is disconnected
inline constexpr std::chrono::milliseconds loop_interval{30};    ///< the longest delay before a change is sent

/// Sends one frame without waiting; false if the queue is full or the peer is disconnected, which sets `gone`.
inline bool send_frame(zmq::socket_t& socket, const std::string& bytes, zmq::send_flags flags = zmq::send_flags::none,
                       bool* gone = nullptr) {
  try {
    return socket.send(zmq::buffer(bytes), flags | zmq::send_flags::dontwait).has_value();
  } catch (const zmq::error_t&) {
    if (gone != nullptr) *gone = true;
    return false;
  }
}

/// A message of exactly `count` frames; others are dropped. nullopt if there is none; frames empty if it had another
/// number. `address`: of the peer, as the system reports it.
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
