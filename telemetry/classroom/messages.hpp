// Messages between the windows of a class: the teacher sends its current view, students send their names and answers.
// One JSON object per message, small and bounded; anything else is rejected.
// Version 2: a student proves to own the key that its name belongs to (identity.hpp).
//
//   student                          teacher
//     hello {name}              →                            the sign of life, too
//                               ←    challenge {challenge}   to a connection that has not proved itself
//     hello {name, key, proof}  →
//                               ←    welcome {}              or refused {why}
//     answer {lab, question, question_kind, answer, try, verdict, at} →    the same again only changes the verdict
//                               ←    look {…}                at once, on every change, and every second
//
// Older students' windows send answer {lab, question, guess}, only for numbers: these are still accepted, and a number
// is sent with a guess in addition to the answer, for older teachers' windows.
//
// This never affects a run: it uses a socket of the class only, separate from the relay's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "engine/lesson/lab/question.hpp"

namespace rankscope::classroom {

inline constexpr std::size_t longest_message = 16384;  ///< bytes; a longer one is not read
inline constexpr std::size_t longest_name = 40;        ///< characters of UTF-8, in bytes
inline constexpr int most_questions = 32;
inline constexpr std::size_t most_points = 1024;  ///< of a drawing
inline constexpr std::size_t most_items = 32;     ///< of an order
inline constexpr std::size_t longest_item = 400;  ///< bytes of an option, or of an item of an order
inline constexpr int most_try = 1000;             ///< the largest number of a try

/// The state of the teacher's window, which students' windows follow.
struct SharedView {
  std::string lab;   ///< name of a lab's file without ".toml"; empty: none is open
  std::string view;  ///< name of the view in front; empty: unknown
  std::optional<std::uint32_t> step;
  /// The visible part of that step, from its begin, and the length of the step. Runs differ: times in a complete run
  /// would have no meaning in another window, and if its step takes longer, the visible part is longer, too.
  std::int64_t begin_ns = 0, end_ns = 0, step_ns = 0;
  std::int32_t rank = -1;  ///< of the selected op; -1: none
  std::string op;          ///< its token
  bool ran = false;        ///< a run of that lab is shown, in progress or ended, not a prediction
  bool operator==(const SharedView&) const = default;
};
struct Hello {
  std::string name;
  std::string key, proof;  ///< empty: a heartbeat
};
struct Challenge {
  std::string challenge;
};
struct Welcome {};
struct Refused {
  std::string why;  ///< one line for the student
};
/// The judgement of an answer by the student's window.
enum class Verdict : std::uint8_t {
  open,  ///< only a run can show whether it is right
  right,
  wrong,
};
std::string_view name_of(Verdict verdict);

struct Answer {
  std::string lab;
  int question = 0;       ///< from 0, in the lesson's order
  Attempt attempt = 0.0;  ///< complete: a drawing with all its points, to seven digits
  int number = 1;         ///< of the try, from 1
  Verdict verdict = Verdict::open;
  std::string at;  ///< UTC, "2026-11-24T09:30:00Z"; empty: the student's window did not send it
};
using Message = std::variant<SharedView, Hello, Answer, Challenge, Welcome, Refused>;

std::string to_text(const Message& message);
/// Why an answer cannot be sent: it is too large for a message, or is not an answer. Empty: it can be sent.
std::string why_not_sendable(const Answer& answer);
/// nullopt for anything else, with the reason in `why`, one line.
std::optional<Message> parse(std::string_view text, std::string* why = nullptr);

}  // namespace rankscope::classroom
