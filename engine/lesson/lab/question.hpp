// A lesson's question as in its file: the question, the right answer, and common mistakes. Data only; judge.hpp
// compares an answer with it.
#pragma once
#include <cstdint>
#include <map>
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
  order,   ///< items are put in order
  draw,    ///< a value for each rank or step is drawn
  point,   ///< an op, a rank or a link is clicked in a view
};
inline constexpr int question_kind_count = 5;
std::string_view name_of(QuestionKind kind);

/// What has to be clicked.
enum class PointAt : std::uint8_t { op, rank, link };
std::string_view name_of(PointAt at);

/// An op that was clicked.
struct PointedOp {
  int rank = 0;
  OpId op;
  bool operator==(const PointedOp&) const = default;
};

struct PointedRank {
  int rank = 0;
  bool operator==(const PointedRank&) const = default;
};

/// A link that was clicked: a unit's uplink in the topology, or the link from one rank to another.
struct PointedLink {
  std::string level;     ///< of the unit, "node"; empty: it is a link between two ranks
  int unit = 0;          ///< of its level; 0 without a level
  int from = 0, to = 0;  ///< ranks; 0 with a level
  bool operator==(const PointedLink&) const = default;
};

/// The ops that a question or a mistake means: those that match every given field.
struct OpPattern {
  std::optional<int> rank{}, chunk{}, micro_batch{};
  std::optional<OpKind> kind{};
  std::optional<Purpose> purpose{};
  bool matches(const PointedOp& pointed) const;
  bool operator==(const OpPattern&) const = default;
};
/// "a forward of micro-batch 0 on rank 3".
std::string words_of(const OpPattern& pattern);

struct RankPattern {
  std::vector<int> ranks;  ///< any of these
  bool matches(const PointedRank& pointed) const;
  bool operator==(const RankPattern&) const = default;
};
/// "rank 2", "rank 0, 1 or 3".
std::string words_of(const RankPattern& pattern);

/// Links that match every given field; with a level they are uplinks, otherwise links from rank to rank.
struct LinkPattern {
  std::string level{};
  std::optional<int> unit{}, from{}, to{};
  bool matches(const PointedLink& pointed) const;
  bool operator==(const LinkPattern&) const = default;
};
/// "the uplink of node 3", "the link from rank 1 to rank 2".
std::string words_of(const LinkPattern& pattern);

/// A student's answer: a number in the question's unit; the chosen option; the ordered items; a value for each rank or
/// step, in the unit; what was clicked.
using Attempt = std::variant<double, std::string, std::vector<std::string>, std::vector<double>, PointedOp, PointedRank,
                             PointedLink>;
/// What is right, or how a mistake is recognised: the same kinds in the same order. For clicks, a pattern that matches
/// everything that is right.
using Target = std::variant<double, std::string, std::vector<std::string>, std::vector<double>, OpPattern, RankPattern,
                            LinkPattern>;

/// A common mistake: an answer near it gets this explanation.
struct Mistake {
  Target near;
  std::string because;
  bool operator==(const Mistake&) const = default;
};

/// The scenario of a question if it is not the lesson's own: with these keys changed.
struct Variant {
  std::vector<std::string> settings;  ///< for --set: "micro_batches=16"
  bool runs = false;                  ///< it is run; otherwise it is simulated
  bool operator==(const Variant&) const = default;
};

/// The evidence: what the window shows with the explanation.
struct Evidence {
  std::string view;  ///< by its name: "memory"
  std::optional<int> step, rank;
  std::string op{};                             ///< its token; empty: none is selected
  std::map<std::string, std::string> inputs{};  ///< values set in the view (view_inputs.hpp); others are unchanged
  bool operator==(const Evidence&) const = default;
};

struct Question {
  QuestionKind kind = QuestionKind::number;
  PointAt at = PointAt::op;  ///< of a question answered by a click
  std::string ask;
  /// Of the answer as it is typed and shown: "", "%", "ms", "s", "KiB", "MiB", "GFLOP/s", "nats" or "steps".
  std::string unit;
  double scale = 1;  ///< factor from the report's value to the unit: 100 for "%", 1000 for "ms"
  bool is_percentage() const { return unit == "%"; }

  /// The source of the answer: a value of the report, as a path into the object that --json prints:
  /// "bubble.measured", "time.data", "memory.0.activations" (rank 0), "traffic.pipeline_forward.bytes_per_rank".
  /// "memory.*.activations" and "steps.*.loss" are a value for each rank or step, for a question that is drawn.
  std::string answer_from;
  /// For optimizers on a surface, without training: the paths; `answer_from` is then one of their values such as
  /// "paths.sgd.reached" (engine/lesson/descent/path.hpp).
  std::optional<PathRequest> paths;
  std::optional<Variant> variant;  ///< the scenario of answer_from, if it is not the lesson's own
  /// The lesson's own arithmetic, in the unit: its text ("100 * 3/11") and its value. An answer is judged by it at
  /// once; the run's value is shown beside it later.
  std::string formula;
  std::optional<double> formula_value;
  /// The answer, if the file contains it: a number in the unit, the right option, the items in their right order, or
  /// what is to be clicked.
  std::optional<Target> answer;

  double tolerance = 0;              ///< of a number, in the unit; of a drawing its mean distance
  double most = 0;                   ///< of a drawing: the top of its axis, in the unit
  std::vector<std::string> options;  ///< of a choice, as listed; of an order the items in their right order
  std::vector<Mistake> mistakes;
  /// In a translation (translation.hpp): the original `ask` and `options`. Empty: this is the original.
  std::string original_ask{};
  std::vector<std::string> original_options{};
  std::string hint;  ///< shown after a first wrong answer
  std::string why;   ///< the reason, shown with the answer
  std::optional<Evidence> evidence;

  bool drawn() const { return kind == QuestionKind::draw; }
  bool operator==(const Question&) const = default;
};

/// The right answer if it is known without a run (from the file, or the lesson's formula); nullopt if it needs a run, a
/// simulation or a path.
std::optional<Target> known_answer(const Question& question);

/// An answer is of the question's kind; for a click, also of the kind of object that the question asks for.
bool fits(const Question& question, const Attempt& attempt);

/// The items of an order question as they are first shown: never in the right order, and the same each time.
std::vector<std::string> shuffled(const Question& question);

}  // namespace rankscope
