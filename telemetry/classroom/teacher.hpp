// The teacher's side of a class: one bound socket that the students' windows connect to. It sends them the current
// view, and stores the answers. All input from outside is bounded; nothing here waits for a peer.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "telemetry/classroom/class_register.hpp"
#include "telemetry/stream/join.hpp"

namespace rankscope::classroom {

struct TeacherOptions {
  std::string endpoint;  ///< to bind: ipc:///DIRECTORY/NAME, tcp://127.0.0.1:*, or beyond this machine with keys
  bool secured = false;  ///< with keys, made here: without them none but this machine is let in
  ClassLimits limits;
  /// That students get. Beside it JOIN-FILE.names lists who uses which key, a line NAME, tab, KEY, and keys that
  /// `rankscope-trace revoke` takes back are shut out. Empty: neither.
  std::string join_file;
};

struct TeacherStatus {
  std::int64_t students = 0;  ///< that are here now
  std::int64_t answers = 0;   ///< all tries of all
  std::uint64_t changes = 0;  ///< another number whenever students() has other names or answers
  std::int64_t messages = 0;  ///< taken
  std::int64_t garbage = 0;   ///< nothing of ours, too long, too many, or from more students than there is room for
  std::int64_t rejected = 0;  ///< handshakes with a wrong key
  std::int64_t refused = 0;   ///< proofs that were none, names of other students, and keys that were revoked
  std::string last_garbage;   ///< why
  std::string unwritten;      ///< why the list of names, which revoking needs, cannot be written; empty: it is
};

class Teacher {
 public:
  /// Binds, and runs a thread of its own. Throws JoinError for an endpoint that check_publishable refuses or that
  /// cannot be bound.
  explicit Teacher(TeacherOptions options);
  ~Teacher();
  Teacher(const Teacher&) = delete;
  Teacher& operator=(const Teacher&) = delete;

  /// What a student's window needs; all students share it. `host` replaces a wildcard address; empty: this machine.
  Join join(const std::string& host = {}) const;
  const std::string& endpoint() const;  ///< with the port that the system chose

  void show(const SharedView& shared);
  std::vector<Student> students() const;
  TeacherStatus status() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope::classroom
