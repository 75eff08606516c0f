// A student's side of a class: receives the teacher's view, and sends answers. It reconnects automatically
// when the connection was lost.
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
  std::string refused;       ///< why the teacher does not let this student in; empty: it does, or has not answered
  std::int64_t looks = 0;    ///< received
  std::int64_t garbage = 0;  ///< other messages
  std::string last_garbage;
};

class StudentLine {
 public:
  /// Connects, and runs a thread of its own. The name belongs to the identity from its first use in the class on.
  /// Throws JoinError for an endpoint or invalid keys.
  StudentLine(const Join& join, const std::string& name, Identity identity = {});
  ~StudentLine();
  StudentLine(const StudentLine&) = delete;
  StudentLine& operator=(const StudentLine&) = delete;

  /// The latest; nullopt until one has arrived.
  std::optional<SharedView> shared() const;
  /// Told until the teacher must have it: again after every reconnection. The same try again, with what is said of it
  /// now, changes that at the teacher's.
  void answer(const Answer& answer);
  StudentStatus status() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope::classroom
