// A lesson: the [lab] table of a scenario file. Read, predict, run, compare, explain. It does not change the
// training; Scenario ignores it.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/lesson/lab/question.hpp"

namespace rankscope {

struct Lab {
  std::string title;             ///< the scenario's
  std::string language{};        ///< of a translation (translation.hpp): "de"; empty: as its author wrote it, English
  std::string original_title{};  ///< of a translation: the scenario's
  std::string file;
  std::string summary;             ///< one sentence for the list
  std::string text;                ///< the lesson, in Markdown
  /// The view that the lesson is about and opens, as after "view:" in a link: "formats?page=gradients"; empty: no
  /// particular one.
  std::string view;
  int minutes = 0;                 ///< minutes in a class; 0: not stated
  std::vector<std::string> needs;  ///< names of the labs required before it
  std::string teacher;             ///< notes for the teacher, in Markdown
  /// Symbols that this lesson defines, in addition to the glossary's or in another sense: "M", "bytes moved".
  std::map<std::string, std::string> symbols;
  std::vector<Question> questions;
  /// "pipeline-gpipe": of its file.
  std::string name() const;
  bool operator==(const Lab&) const = default;
};

/// Reads the lesson of a scenario file; nullopt if it has no [lab]. Throws ScenarioError (read.hpp) with position.
std::optional<Lab> read_lab(const std::string& path);
std::optional<Lab> parse_lab(const std::string& text, const std::string& name);

/// The installed labs (course.hpp), in the order of the list.
std::vector<Lab> all_labs();

/// True for a path that Question::answer_from may have.
bool is_report_value(const std::string& path);

}  // namespace rankscope
