// A lesson: the [lab] table of a scenario file. Read, predict, run, compare, explain. It says nothing about what is
// trained; Scenario ignores it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/descent/path.hpp"

namespace rankscope {

/// Something to predict before the run. The value that answers it stays hidden until the prediction is made.
struct Question {
  std::string ask;
  std::string
      unit;  ///< of the answer as it is typed and shown: one of "", "%", "ms", "s", "KiB", "MiB", "GFLOP/s", "steps"
  double scale = 1;  ///< how many of the unit the report's value 1 is: 100 for "%", 1000 for "ms"
  /// The report's value, as a path into the object that --json prints: "bubble.measured", "time.data",
  /// "step_seconds", "mfu"; an entry of a list is named by what it is about: "memory.0.activations" (rank 0),
  /// "traffic.pipeline_forward.bytes_per_rank".
  std::string answer_from;
  double tolerance = 0;  ///< in the unit: a prediction within it is right; of a drawn one its mean distance
  /// "memory.*.activations", "steps.*.loss": a value for each rank or step, which is drawn up to `most` (in the unit).
  double most = 0;
  /// Of optimizers on a surface, where nothing is trained: the paths that answer it, with `answer_from` a value of
  /// them, "paths.sgd.reached" (engine/lesson/descent/path.hpp).
  std::optional<PathRequest> paths{};
  bool drawn() const { return answer_from.find(".*.") != std::string::npos; }
  std::string why;  ///< the arithmetic, shown with the answer
  bool operator==(const Question&) const = default;
};

struct Lab {
  std::string title;  ///< the scenario's
  std::string file;
  int order = 0;        ///< among the labs in a list, ascending
  std::string summary;  ///< one sentence for the list
  std::string text;     ///< the lesson, in Markdown
  std::string view;     ///< of the window, that the lesson is about and opens; empty: none in particular
  std::vector<Question> questions;
  bool operator==(const Lab&) const = default;
};

/// The chapter of a lab, by its order, as a list of labs names it: "Pipelines".
std::string_view group_of(const Lab& lab);

/// Reads the lesson of a scenario file; nullopt where there is no [lab]. Throws ScenarioError (read.hpp) with position.
std::optional<Lab> read_lab(const std::string& path);
std::optional<Lab> parse_lab(const std::string& text, const std::string& name);

/// The labs that were installed (see resources.hpp), in their order.
std::vector<Lab> all_labs();

/// True for a path that Question::answer_from may have.
bool is_report_value(const std::string& path);

}  // namespace rankscope
