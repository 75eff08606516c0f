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
  std::string endpoint;  ///< to bind: ipc:///DIRECTORY/NAME, tcp://127.0.0.1:*, or with keys any tcp address
  bool secured = false;  ///< with keys, created here: without them only this machine can connect
  ClassLimits limits;
  /// The students' join file. Beside it JOIN-FILE.names lists the key of each name, in lines NAME, tab, KEY, and keys
  /// revoked by `rankscope-trace revoke` are rejected. Empty: neither.
  std::string join_file;
};

struct TeacherStatus {
  std::int64_t students = 0;  ///< connected now
  std::int64_t answers = 0;   ///< all tries of all students
  std::uint64_t changes = 0;  ///< a different number whenever students() has other names or answers
  std::int64_t messages = 0;  ///< accepted
  std::int64_t garbage = 0;   ///< not our format, too long, too many, or from more students than there is space for
  std::int64_t rejected = 0;  ///< handshakes with a wrong key
  std::int64_t refused = 0;   ///< invalid proofs, names of other students, and keys that were revoked
  std::string last_garbage;   ///< the reason
  std::string unwritten;      ///< why the list of names, needed to revoke keys, cannot be written; empty: it can
};

class Teacher {
 public:
  /// Binds, and runs its own thread. Throws JoinError for an endpoint that check_publishable rejects or that cannot be
  /// bound.
  explicit Teacher(TeacherOptions options);
  ~Teacher();
  Teacher(const Teacher&) = delete;
  Teacher& operator=(const Teacher&) = delete;

  /// What a student's window needs; all students share it. `host` replaces a wildcard address; empty: this machine.
  Join join(const std::string& host = {}) const;
  const std::string& endpoint() const;  ///< with the port chosen by the system

  void show(const SharedView& shared);
  std::vector<Student> students() const;
  TeacherStatus status() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope::classroom
