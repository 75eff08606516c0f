// The members of a class, without sockets: places, names with their keys, and the answers of each student.
// Every resource is bounded per key and over time, so that no student can use up the resources of others:
//   a name        belongs to the key that used it first, while the class runs; a key has at most a few names
//   a place       one for each name; if all are in use, those of closed connections are replaced first, then those
//                 of an address that has more than the new student's address
//   a connection  a few for each name; the one silent for longest is replaced
//   messages      at most this many per second from each name, over all its connections
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/classroom/messages.hpp"

namespace rankscope::classroom {

/// One try at a question.
struct Tried {
  Attempt attempt;
  int number = 1;  ///< as numbered by the student
  Verdict verdict = Verdict::open;
  std::string at;  ///< UTC; empty: unknown
  bool operator==(const Tried&) const = default;
};
/// In the order in which they were given, not received.
using Tries = std::vector<Tried>;
/// By lab and question.
using AnswersOfOne = std::map<std::pair<std::string, int>, Tries>;

struct Student {
  std::string name, key;  ///< key: public, Z85
  bool here = false;      ///< a message was received in the last seconds
  AnswersOfOne answers;
};

struct ClassLimits {
  std::size_t students = 256;
  std::size_t connections_a_name = 4, names_a_key = 4;
  std::size_t names = 4096;
  int messages_a_second = 60;  ///< of one student
  std::size_t tries = 8;       ///< of a question that are kept: if more, the first ones and the last ones
  std::size_t answer_bytes = std::size_t{1} << 20;  ///< of one student, all answers together
};

class ClassRegister {
 public:
  using Clock = std::chrono::steady_clock;
  explicit ClassRegister(ClassLimits limits) : limits_(limits) {}

  /// A connection that has proved to own `key`. Returns an empty string, or one line for the student with the reason.
  std::string admit(const std::string& connection, const std::string& address, const std::string& key,
                    const std::string& name, Clock::time_point now);
  /// Counts a message. Empty, or the reason for the rejection.
  std::string handle(const std::string& connection, Clock::time_point now);
  /// Repeating a try changes only its verdict.
  std::string answer(const std::string& connection, const Answer& answer);

  bool knows(const std::string& connection) const { return connections_.contains(connection); }
  /// Connections with a recent message.
  std::vector<std::string> present(Clock::time_point now) const;
  /// The connection is closed; the student's answers are kept while there is space.
  void close(const std::string& connection) { connections_.erase(connection); }
  /// Revokes a key: returns its connections, which are removed. Its name is free again.
  std::vector<std::string> revoke(const std::string& key);

  std::vector<Student> students(Clock::time_point now) const;
  std::size_t here(Clock::time_point now) const { return names_here(now).size(); }
  std::size_t answers() const;  ///< all tries of all students
  /// A different number whenever students() has other names or answers.
  std::uint64_t changes() const { return changes_; }
  const std::map<std::string, std::string>& names() const { return names_; }  ///< name to key

 private:
  struct Connection {
    std::string name;
    Clock::time_point last_received{};
  };
  struct Place {
    std::string key, address;
    AnswersOfOne answers;
    std::size_t bytes = 0;  ///< of these
    Clock::time_point last_received{}, second_began{};
    int this_second = 0;
  };
  std::set<std::string> names_here(Clock::time_point now) const;
  std::string bind(const std::string& name, const std::string& key);
  bool make_room(const std::string& address, Clock::time_point now);
  void drop_place(const std::string& name);
  void limit_connections(const std::string& name);

  const ClassLimits limits_;
  std::uint64_t changes_ = 0;
  std::map<std::string, Connection> connections_;  // by identity
  std::map<std::string, Place> places_;            // by name
  std::map<std::string, std::string> names_;       // to their keys; also of those without a place
};

}  // namespace rankscope::classroom
