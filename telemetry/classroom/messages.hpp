// Messages between the windows of a class: the teacher sends its current view, students send their names and
// answers. One JSON object per message, small and bounded; anything else is refused.
// Version 2: a student proves to hold the key that its name belongs to (identity.hpp).
//
//   student                          teacher
//     hello {name}              →                            the sign of life, too
//                               ←    challenge {challenge}   to a connection that has not proved itself
//     hello {name, key, proof}  →
//                               ←    welcome {}              or refused {why}
//     answer {lab, question, guess} →                        replaces an earlier one
//                               ←    look {…}                at once, on every change, and every second
//
// None of this touches a run: it goes through a socket of the class alone, beside the relay's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace rankscope::classroom {

inline constexpr std::size_t longest_message = 4096;  ///< bytes; a longer one is not read
inline constexpr std::size_t longest_name = 40;       ///< characters of UTF-8, in bytes
inline constexpr int most_questions = 32;

/// What the teacher's window shows, and how: what students' windows follow.
struct Look {
  std::string lab;   ///< name of a lab's file without ".toml"; empty: none is open
  std::string view;  ///< name of the view in front; empty: not said
  std::optional<std::uint32_t> step;
  /// The visible stretch of that step, from its begin, and how long the step is. Runs differ: times of the whole run
  /// would mean nothing, and where the same step takes longer, so does what is to be seen of it.
  std::int64_t begin_ns = 0, end_ns = 0, step_ns = 0;
  std::int32_t rank = -1;  ///< of the selected op; -1: none is
  std::string op;          ///< its token
  bool ran = false;        ///< what is shown is a run of that lab, going on or over, and no prediction
  bool operator==(const Look&) const = default;
};
struct Hello {
  std::string name;
  std::string key, proof;  ///< empty: a sign of life
};
struct Challenge {
  std::string challenge;
};
struct Welcome {};
struct Refused {
  std::string why;  ///< one line for the student
};
struct Answer {
  std::string lab;
  int question = 0;  ///< from 0, in the lesson's order
  double guess = 0;  ///< in the question's unit
};
using Message = std::variant<Look, Hello, Answer, Challenge, Welcome, Refused>;

std::string to_text(const Message& message);
/// nullopt for whatever is no such message, with `why` in one line.
std::optional<Message> parse(std::string_view text, std::string* why = nullptr);

}  // namespace rankscope::classroom
