// Messages between the windows of a class: the teacher sends its current view, students send their names and
// answers. One JSON object per message, small and bounded; anything else is refused.
// Version 2: a student proves to hold the key that its name belongs to (identity.hpp).
//
//   student                          teacher
//     hello {name}              →                            the sign of life, too
//                               ←    challenge {challenge}   to a connection that has not proved itself
//     hello {name, key, proof}  →
//                               ←    welcome {}              or refused {why}
//     answer {lab, question, question_kind, answer, try, verdict, at} →    the same again only changes the verdict
//                               ←    look {…}                at once, on every change, and every second
//
// Students' windows of before sent answer {lab, question, guess}, numbers alone: these are taken still, and numbers go
// out with a guess beside the answer, which teachers' windows of before read.
//
// None of this touches a run: it goes through a socket of the class alone, beside the relay's.
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
inline constexpr int most_try = 1000;             ///< that a try's number may be

/// What the teacher's window shows, and how: what students' windows follow.
struct SharedView {
  std::string lab;   ///< name of a lab's file without ".toml"; empty: none is open
  std::string view;  ///< name of the view in front; empty: not said
  std::optional<std::uint32_t> step;
  /// The visible part of that step, from its begin, and the length of the step. Runs differ: times of a whole run would
  /// have no meaning elsewhere, and in a window where the step takes longer the visible part is longer, too.
  std::int64_t begin_ns = 0, end_ns = 0, step_ns = 0;
  std::int32_t rank = -1;  ///< of the selected op; -1: none is
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
  open,  ///< a run must show what is right
  right,
  wrong,
};
std::string_view name_of(Verdict verdict);

struct Answer {
  std::string lab;
  int question = 0;       ///< from 0, in the lesson's order
  Attempt attempt = 0.0;  ///< whole: a drawing with all its points, to seven digits
  int number = 1;         ///< of the try, from 1
  Verdict verdict = Verdict::open;
  std::string at;  ///< UTC, "2026-11-24T09:30:00Z"; empty: the student's window did not send it
};
using Message = std::variant<SharedView, Hello, Answer, Challenge, Welcome, Refused>;

std::string to_text(const Message& message);
/// Why an answer cannot be sent: it is larger than a message may be, or no answer. Empty: it can.
std::string why_not_sendable(const Answer& answer);
/// nullopt for anything else, with the reason in `why`, one line.
std::optional<Message> parse(std::string_view text, std::string* why = nullptr);

}  // namespace rankscope::classroom
