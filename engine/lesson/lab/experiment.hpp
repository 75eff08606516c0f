// The commands printed in a lesson's text, which the window offers as buttons. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// One command line of a lesson. A line that begins with --set, or with … and --set, is the lesson's own scenario with
/// these keys changed.
struct Experiment {
  std::string line;  ///< as printed, without spaces around it
  std::string
      command;  ///< of rankscope-engine: "run", "simulate", "verify", "sweep", "search", "paths"; empty: --set alone
  std::string scenario;               ///< as in the line; empty: the lesson's own
  std::vector<std::string> settings;  ///< "micro_batches=16", of each --set
  std::vector<std::string> others;    ///< all other arguments, in their order: "--checkpoint", "ck"
  bool operator==(const Experiment&) const = default;
};

/// nullopt for a line that is not such a command.
std::optional<Experiment> experiment_of(std::string_view line);

/// The commands of a text, in order: its code lines (indented by four spaces or more).
std::vector<Experiment> experiments_in(std::string_view text);

/// A lesson's text in parts, split at its headings of the second level: before the questions, how to run, and the parts
/// that contain answers ("Compare", "Explain"; in any language, lesson_words.hpp).
struct LessonParts {
  std::string before, run, after;
};
LessonParts parts_of(std::string_view text);

}  // namespace rankscope
