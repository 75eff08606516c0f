// A student's side of a class: receives the teacher's view, and sends answers. It reconnects automatically when the
// connection is lost.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "telemetry/classroom/identity.hpp"
#include "telemetry/classroom/messages.hpp"
#include "telemetry/stream/join.hpp"

namespace rankscope::classroom {

struct StudentStatus {
  bool connected = false;    ///< a message of the teacher has arrived in the last seconds
  std::string refused;       ///< why the teacher rejects this student; empty: accepted, or not answered yet
  std::int64_t looks = 0;    ///< received
  std::int64_t garbage = 0;  ///< other messages
  std::string last_garbage;
};

class StudentLine {
 public:
  /// Connects, and runs its own thread. From its first use in the class, the name belongs to the identity. Throws
  /// JoinError for an invalid endpoint or invalid keys.
  StudentLine(const Join& join, const std::string& name, Identity identity = {});
  ~StudentLine();
  StudentLine(const StudentLine&) = delete;
  StudentLine& operator=(const StudentLine&) = delete;

  /// The latest; nullopt until one has arrived.
  std::optional<SharedView> shared() const;
  /// Sends an answer, and all answers again after every reconnection. If the same try is sent again with a new verdict,
  /// the teacher's verdict is replaced.
  void answer(const Answer& answer);
  StudentStatus status() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope::classroom
