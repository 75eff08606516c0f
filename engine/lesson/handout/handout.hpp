// Lessons on paper: hand-outs with space for the answers, and the teacher's edition with the answers. Pure: pictures
// and simulated values are passed in.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/handout/picture.hpp"
#include "engine/lesson/lab/lab.hpp"

namespace rankscope {

/// One lesson of a hand-out.
struct Sheet {
  Lab lab;
  std::vector<Picture> pictures{};
  /// [question]: the simulated value, in its unit; nullopt if it is not simulated.
  std::vector<std::optional<Target>> simulated{};
  std::size_t ranks = 1, steps = 1;  ///< the number of values drawn for a question of each
  std::string unsimulated{};         ///< why there are no pictures; empty if there are
};

struct Handout {
  std::string title;      ///< of the course, or of the only lesson
  std::string summary{};  ///< of a course
  std::string teacher{};  ///< of a course: notes for the teacher
  std::vector<Sheet> sheets{};
  bool answers = false;    ///< the teacher's edition
  std::string language{};  ///< of the words around the lessons: "de"; empty: English
};

/// One page for the browser and for paper, without external files. Before *Run* it has the text and the questions with
/// space for answers, so that students predict before they read on; then the run, the pictures and the comparison.
std::string handout_html(const Handout& handout);
/// The same in Markdown. `image` returns the address of a picture's file.
std::string handout_markdown(const Handout& handout,
                             const std::function<std::string(const Sheet&, const Picture&)>& image);

/// The right answer of a question, in its unit: "27.3 %"; "a → b → c". Empty if it is known only after a run.
std::string answer_words(const Question& question, const std::optional<Target>& simulated,
                         const std::string& language = {});
/// "4 % more or less are accepted", and the simulated value if the lesson has its own arithmetic. May be empty.
std::string accepted_words(const Question& question, const std::optional<Target>& simulated,
                           const std::string& language = {});
/// The wrong answer of a mistake, as text.
std::string target_words(const Question& question, const Target& target, const std::string& language = {});
/// "27.3 %".
std::string value_words(const Question& question, double value);

}  // namespace rankscope
