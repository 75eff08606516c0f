// A lesson's question, as its file has it: what is asked, what is right, and which errors are usual. Data only;
// judge.hpp compares an answer with it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/lesson/descent/path.hpp"
#include "engine/op/op_id.hpp"

namespace rankscope {

/// How a question is answered.
enum class QuestionKind : std::uint8_t {
  number,  ///< a number is typed, or an expression such as 3/11
  choice,  ///< one of a few options
  order,   ///< items are put into their order
  draw,    ///< a value for each rank or step is drawn
  point,   ///< an op or a rank is clicked in a view
};
std::string_view name_of(QuestionKind kind);

/// An op that was clicked.
struct PointedOp {
  int rank = 0;
  OpId op;
  bool operator==(const PointedOp&) const = default;
};

/// The ops that a question or a mistake means: those that agree with every field that is given.
struct OpPattern {
  std::optional<int> rank{}, chunk{}, micro_batch{};
  std::optional<OpKind> kind{};
  std::optional<Purpose> purpose{};
  bool matches(const PointedOp& pointed) const;
  bool operator==(const OpPattern&) const = default;
};
/// "a forward of micro-batch 0 on rank 3".
std::string words_of(const OpPattern& pattern);

/// What a person answers: a number in the question's unit; the option that was chosen; the items in an order; a value
/// for each rank or step, in the unit; an op.
using Attempt = std::variant<double, std::string, std::vector<std::string>, std::vector<double>, PointedOp>;
/// What is right, or what a mistake is recognised by. Of a pointed op a pattern stands for all that are right.
using Target = std::variant<double, std::string, std::vector<std::string>, std::vector<double>, OpPattern>;

/// A usual error: an answer near it gets this reason.
struct Mistake {
  Target near;
  std::string because;
  bool operator==(const Mistake&) const = default;
};

/// The scenario that a question is about where it is not the lesson's own: with these keys changed.
struct Variant {
  std::vector<std::string> settings;  ///< as --set takes them: "micro_batches=16"
  bool runs = false;                  ///< it is run; otherwise it is simulated
  bool operator==(const Variant&) const = default;
};

/// Pages of the view of number formats: one number, gradients of a run, and what scales save.
inline constexpr std::string_view formats_pages[] = {"number", "gradients", "scales"};

/// Where one sees why: what is shown with the reason.
struct Evidence {
  std::string view;  ///< by its name: "memory"
  std::optional<int> step, rank;
  std::string op{};  ///< its token; empty: none is selected
  /// Of number formats: what is typed there, and which page is in front; empty: as it is.
  std::string value{}, update{}, page{};
  bool operator==(const Evidence&) const = default;
};

struct Question {
  QuestionKind kind = QuestionKind::number;
  std::string ask;
  /// Of the answer as it is typed and shown: "", "%", "ms", "s", "KiB", "MiB", "GFLOP/s", "nats" or "steps".
  std::string unit;
  double scale = 1;  ///< how many of the unit the report's value 1 is: 100 for "%", 1000 for "ms"

  /// Where the answer comes from: a value of the report, as a path into the object that --json prints:
  /// "bubble.measured", "time.data", "memory.0.activations" (rank 0), "traffic.pipeline_forward.bytes_per_rank".
  /// "memory.*.activations" and "steps.*.loss" are a value for each rank or step, for a question that is drawn.
  std::string answer_from;
  /// Of optimizers on a surface, where nothing is trained: the paths, with `answer_from` a value of them such as
  /// "paths.sgd.reached" (engine/lesson/descent/path.hpp).
  std::optional<PathRequest> paths;
  std::optional<Variant> variant;  ///< what answer_from is about, where it is not the lesson's own scenario
  /// What the lesson's own arithmetic gives, in the unit; as it is written ("100 * 3/11"), and its value. An answer is
  /// judged by it at once; what the run gives is shown beside it later.
  std::string formula;
  std::optional<double> formula_value;
  /// The answer itself, where the file states it: a number in the unit, the right option, the items in their right
  /// order, or the op that is meant.
  std::optional<Target> answer;

  double tolerance = 0;              ///< of a number, in the unit; of a drawing its mean distance
  double most = 0;                   ///< of a drawing: the top of its axis, in the unit
  std::vector<std::string> options;  ///< of a choice, as they are listed; of an order the items in their right order
  std::vector<Mistake> mistakes;
  std::string hint;  ///< shown after a first wrong answer
  std::string why;   ///< the reason, shown with the answer
  std::optional<Evidence> evidence;

  bool drawn() const { return kind == QuestionKind::draw; }
  bool operator==(const Question&) const = default;
};

/// What is right without a run: what the file states, or the lesson's formula; nullopt where only a run, a simulation
/// or a path gives it.
std::optional<Target> known_answer(const Question& question);

/// The items of an order question as they are first shown: never in the right order, and the same each time.
std::vector<std::string> shuffled(const Question& question);

}  // namespace rankscope
