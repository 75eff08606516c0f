#include "engine/lesson/lab/read_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/lesson/lab/expression.hpp"
#include "engine/lesson/lab/fields.hpp"
#include "engine/lesson/lab/lab.hpp"
#include "engine/lesson/lab/read_paths.hpp"
#include "engine/lesson/lab/view_inputs.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

using document::Array;
using document::as;
using document::Item;
using document::refuse;
using document::Table;
using document::Value;

struct Unit {
  std::string_view name;
  double scale;
};
constexpr Unit units[] = {
    {"", 1},          {"%", 100},  {"ms", 1e3},  {"s", 1}, {"KiB", 1.0 / 1024}, {"MiB", 1.0 / (1 << 20)},
    {"GFLOP/s", 1e3}, {"nats", 1}, {"steps", 1},
};
/// The enumerator of that name, of those from `first` on.
template <class Enum>
Enum named(const std::string& name, std::string_view what, const std::string& at, int first, int count) {
  std::vector<std::string_view> known;
  for (int i = first; i < count; ++i) {
    known.push_back(name_of(static_cast<Enum>(i)));
    if (known.back() == name) return static_cast<Enum>(i);
  }
  refuse(at, fmt::format("unknown {} '{}'; known: {}", what, name, listed(known)));
}

double scale_of(const std::string& unit, const Fields& fields) {
  std::vector<std::string> known;
  for (const Unit& one : units) {
    if (one.name == unit) return one.scale;
    if (!one.name.empty()) known.emplace_back(one.name);
  }
  refuse(fields.at("unit"), fmt::format("unknown unit '{}'; known: {}", unit, listed(known)));
}

/// The kind by its name; without a name, a path with "*" is drawn and anything else is a number.
QuestionKind kind_of_question(const std::string& name, const std::string& answer_from, const Fields& fields) {
  if (name.empty()) return answer_from.find(".*.") != std::string::npos ? QuestionKind::draw : QuestionKind::number;
  return named<QuestionKind>(name, "kind", fields.at("kind"), 0, question_kind_count);
}

double number_of(const Value& value, std::string_view key) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.content)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value.content)) return *real;
  std::string why = fmt::format("it is {}", document::kind_of(value));
  if (const auto* text = std::get_if<std::string>(&value.content))
    if (const auto result = evaluate(*text, &why)) return *result;
  refuse(value.at, fmt::format("{} takes a number or arithmetic in quotes, such as \"100 * 3/11\"; {}", key, why));
}

std::string option_of(const Value& value, std::string_view key, const std::vector<std::string>& options) {
  const std::string& text = as<std::string>(value, key, "give one of the options");
  if (!contains(options, text))
    refuse(value.at, fmt::format("{} is '{}', which is not an option; the options are {}", key, text, listed(options)));
  return text;
}

std::vector<std::string> items_of(const Value& value, std::string_view key, const std::vector<std::string>& options) {
  std::vector<std::string> items;
  for (const Value& entry : as<Array>(value, key, "give the items in an order"))
    items.push_back(option_of(entry, key, options));
  std::vector<std::string> sorted = items, all = options;
  std::sort(sorted.begin(), sorted.end());
  std::sort(all.begin(), all.end());
  if (sorted != all) refuse(value.at, fmt::format("{} has other items than 'items'; give each of them once", key));
  return items;
}

std::vector<double> series_of(const Value& value, std::string_view key) {
  std::vector<double> series;
  for (const Value& entry : as<Array>(value, key, "give a list of numbers")) series.push_back(number_of(entry, key));
  return series;
}

OpPattern pattern_of(const Value& value, std::string_view key) {
  Fields fields(as<Table>(value, key, "write it as { rank = 3, kind = \"forward\", micro_batch = 0 }"),
                std::string(key));
  OpPattern pattern;
  const auto index = [&](const char* name) -> std::optional<int> {
    if (!fields.has(name)) return fields.take(name), std::nullopt;
    return static_cast<int>(fields.number(name, 0));
  };
  pattern.rank = index("rank");
  pattern.chunk = index("chunk");
  pattern.micro_batch = index("micro_batch");
  if (const std::string name = fields.text("kind", value.at, false); !name.empty())
    pattern.kind = named<OpKind>(name, "kind of op", fields.at("kind"), 0, op_kind_count);
  if (const std::string name = fields.text("purpose", value.at, false); !name.empty())
    pattern.purpose = named<Purpose>(name, "purpose", fields.at("purpose"), 1, purpose_count);
  fields.refuse_others();
  if (pattern == OpPattern{}) refuse(value.at, fmt::format("{} fits every op; give rank, kind or micro_batch", key));
  return pattern;
}

int whole_of(const Value& value, std::string_view key) {
  const double number = number_of(value, key);
  if (number < 0 || number != std::floor(number) || number > 1e9)
    refuse(value.at, fmt::format("{} takes whole numbers from 0 on", key));
  return static_cast<int>(number);
}

RankPattern ranks_of(const Value& value, std::string_view key) {
  constexpr std::string_view form = "write it as { rank = 2 } or { ranks = [0, 1, 3] }";
  Fields fields(as<Table>(value, key, form), std::string(key));
  RankPattern pattern;
  if (const Item* rank = fields.take("rank")) pattern.ranks.push_back(whole_of(rank->value, "rank"));
  if (const Item* ranks = fields.take("ranks"))
    for (const Value& entry : as<Array>(*ranks, form)) pattern.ranks.push_back(whole_of(entry, "ranks"));
  fields.refuse_others();
  if (pattern.ranks.empty()) refuse(value.at, fmt::format("{} names no rank; {}", key, form));
  return pattern;
}

LinkPattern link_of(const Value& value, std::string_view key) {
  constexpr std::string_view form = "write it as { level = \"node\", unit = 3 } or { from = 1, to = 2 }";
  Fields fields(as<Table>(value, key, form), std::string(key));
  LinkPattern pattern;
  const auto index = [&](const char* name) -> std::optional<int> {
    const Item* item = fields.take(name);
    return item != nullptr ? std::optional<int>(whole_of(item->value, name)) : std::nullopt;
  };
  pattern.level = fields.text("level", value.at, false);
  pattern.unit = index("unit");
  pattern.from = index("from");
  pattern.to = index("to");
  fields.refuse_others();
  const bool pair = pattern.from || pattern.to;
  if (pattern.level.empty() == !pair || (pattern.unit && pair))
    refuse(value.at, fmt::format("{} is a unit's uplink, or a link between two ranks; {}", key, form));
  return pattern;
}

Target clicked_of(const Question& question, const Value& value, std::string_view key) {
  switch (question.at) {
    case PointAt::op: return pattern_of(value, key);
    case PointAt::rank: return ranks_of(value, key);
    case PointAt::link: return link_of(value, key);
  }
  return 0.0;
}

PointAt point_at(const std::string& named, QuestionKind kind, const Fields& fields) {
  if (named.empty()) return PointAt::op;
  if (kind != QuestionKind::point) refuse(fields.at("at"), "at says what is clicked; give kind = \"point\", too");
  std::vector<std::string> known;
  for (const PointAt at : {PointAt::op, PointAt::rank, PointAt::link}) {
    if (name_of(at) == named) return at;
    known.emplace_back(name_of(at));
  }
  refuse(fields.at("at"), fmt::format("there is no '{}' to click; known: {}", named, listed(known)));
}

Target target_of(const Question& question, const Value& value, std::string_view key) {
  switch (question.kind) {
    case QuestionKind::number: return number_of(value, key);
    case QuestionKind::choice: return option_of(value, key, question.options);
    case QuestionKind::order: return items_of(value, key, question.options);
    case QuestionKind::draw: return series_of(value, key);
    case QuestionKind::point: return clicked_of(question, value, key);
  }
  return 0.0;
}

/// In the form of --set.
std::string setting_of(const Item& item) {
  const std::string key = full_key(item.key, item.at);
  if (const auto* flag = std::get_if<bool>(&item.value.content)) return fmt::format("{}={}", key, *flag);
  if (const auto* integer = std::get_if<std::int64_t>(&item.value.content)) return fmt::format("{}={}", key, *integer);
  if (const auto* real = std::get_if<double>(&item.value.content)) return fmt::format("{}={}", key, plain(*real));
  if (const auto* text = std::get_if<std::string>(&item.value.content)) return fmt::format("{}={}", key, *text);
  refuse(item.at, fmt::format("{} is {}; it takes what --set takes", item.key, document::kind_of(item.value)));
}

std::optional<Variant> variant_of(Fields& fields) {
  const Table* table = fields.table("set", "{ micro_batches = 16 }");
  const bool runs = fields.flag("run", false);
  if (table == nullptr) {
    if (fields.has("run")) refuse(fields.at("run"), "run applies to a variant; give set, too");
    return std::nullopt;
  }
  Variant variant;
  variant.runs = runs;
  Scenario scratch;
  for (const Item& item : *table) {
    variant.settings.push_back(setting_of(item));
    set_value(scratch, parse_override(variant.settings.back()), item.at);
  }
  if (variant.settings.empty()) refuse(fields.at("set"), "set is empty; write it as { micro_batches = 16 }");
  return variant;
}

std::optional<Evidence> evidence_of(Fields& fields) {
  constexpr std::string_view example = "{ view = \"memory\", rank = 0 }";
  const Table* table = fields.table("evidence", example);
  if (table == nullptr) return std::nullopt;
  Fields own(*table, "evidence");
  Evidence evidence;
  evidence.view = own.text("view", fields.at("evidence"), true);
  evidence.op = own.text("op", fields.at("evidence"), false);
  if (own.has("step")) evidence.step = static_cast<int>(own.number("step", 0));
  if (own.has("rank")) evidence.rank = static_cast<int>(own.number("rank", 0));
  own.take("step");
  own.take("rank");
  for (const std::string_view input : inputs_of(evidence.view)) {
    const std::string key(input), value = own.text(key, fields.at("evidence"), false);
    if (value.empty()) continue;
    if (const std::string why = fault_of_input(evidence.view, key, value); !why.empty())
      refuse(fields.at("evidence"), why);
    evidence.inputs[key] = value;
  }
  own.refuse_others();
  return evidence;
}

std::vector<Mistake> mistakes_of(const Question& question, Fields& fields) {
  std::vector<Mistake> mistakes;
  for (const auto& [table, at] : fields.tables("mistakes")) {
    Fields own(*table, "mistakes");
    const Item* near = own.take("near");
    if (near == nullptr)
      refuse(at,
             "a mistake has no 'near' to recognise it; write near = 37.5, near = \"an option\" or near = { "
             "rank = 0 }");
    mistakes.push_back({target_of(question, near->value, "near"), own.text("because", at, true)});
    own.refuse_others();
  }
  return mistakes;
}

/// answer_from, and its source: a report, the report of each rank or step, or paths on a surface.
void check_source(const Question& question, const Fields& fields) {
  if (question.answer_from.empty()) return;
  const std::string at = fields.at("answer_from");
  if (question.paths.has_value() != is_path_value(question.answer_from)) {
    if (question.paths)
      refuse(at, fmt::format("paths have no '{}'; give one of their values, such as \"paths.sgd.reached\"",
                             question.answer_from));
    refuse(at,
           fmt::format("'{}' belongs to optimizers on a surface; add them, such as paths = {{ surface = \"ravine\", "
                       "rates = {{ sgd = 0.1 }} }}",
                       question.answer_from));
  }
  if (!question.paths && !is_report_value(question.answer_from))
    refuse(at, fmt::format("the report has no '{}'; give one of its values, such as \"bubble.measured\"",
                           question.answer_from));
  const bool series = question.answer_from.find(".*.") != std::string::npos;
  if (series != question.drawn())
    refuse(at, series
                   ? fmt::format("'{}' is a value for each rank or step; its kind is draw", question.answer_from)
                   : fmt::format("'{}' is one number and cannot be drawn; its kind is number", question.answer_from));
}

/// Keys that require each other, or a kind of question.
void check_keys(const Question& question, const Table& table, const Fields& fields, const std::string& at) {
  const auto place = [&](const char* key) { return document::find(table, key) ? fields.at(key) : at; };
  const bool is_number = question.kind == QuestionKind::number;
  const bool needs_source = is_number || question.drawn();
  if (needs_source && question.answer_from.empty() && !known_answer(question))
    refuse(at, "no right answer; give answer_from, such as \"bubble.measured\", formula or answer");
  if (!needs_source && !question.answer && question.kind != QuestionKind::order)
    refuse(at,
           fmt::format("the key 'answer' is missing; it is the right answer of a {} question", name_of(question.kind)));
  if (!needs_source && !question.answer_from.empty())
    refuse(place("answer_from"),
           fmt::format("a {} question cannot be answered by a value of the report; give answer instead of answer_from",
                       name_of(question.kind)));
  if (question.formula_value && !is_number) refuse(place("formula"), "formula needs a question of kind number");
  if (question.formula_value && question.answer)
    refuse(place("formula"), "both 'answer' and 'formula' give the right answer; keep one");
  if ((question.kind == QuestionKind::choice || question.kind == QuestionKind::order) && question.options.size() < 2)
    refuse(at, question.kind == QuestionKind::choice
                   ? "a choice needs two options or more; write options = [\"…\", \"…\"]"
                   : "an order needs two items or more; write items = [\"…\", \"…\"]");
  if (question.drawn() != (question.most > 0))
    refuse(question.drawn() ? at : place("most"),
           question.drawn()
               ? "a drawing has no axis; give most, the top of the axis, in the question's unit"
               : fmt::format("most is the top of what one draws on, and '{}' is one number; remove it, or ask for a "
                             "value of each, such as \"memory.*.activations\"",
                             question.answer_from));
  if (needs_source && question.tolerance <= 0)
    refuse(place("tolerance"), "a prediction is never exact; give a tolerance greater than 0, in the question's unit");
}

}  // namespace

Question read_question(const Table& table, const std::string& at) {
  Fields fields(table, "[[lab.questions]]");
  Question question;
  question.ask = fields.text("ask", at, true);
  question.unit = fields.text("unit", at, false);
  question.answer_from = fields.text("answer_from", at, false);
  question.kind = kind_of_question(fields.text("kind", at, false), question.answer_from, fields);
  question.at = point_at(fields.text("at", at, false), question.kind, fields);
  // A run's value must be converted; a number in the file may have any unit: "days", "GB".
  if (!question.unit.empty() && !question.answer_from.empty()) question.scale = scale_of(question.unit, fields);
  question.options = fields.texts(question.kind == QuestionKind::order ? "items" : "options");
  question.tolerance = fields.number("tolerance", 0);
  question.most = fields.number("most", 0);
  question.hint = fields.text("hint", at, false);
  question.why = fields.text("why", at, false);
  if (const Item* formula = fields.take("formula")) {
    const auto* text = std::get_if<std::string>(&formula->value.content);
    question.formula_value = number_of(formula->value, "formula");
    question.formula = text != nullptr ? *text : plain(*question.formula_value);
  }
  if (const Item* answer = fields.take("answer")) question.answer = target_of(question, answer->value, "answer");
  if (question.kind == QuestionKind::order && !question.answer) question.answer = question.options;
  question.mistakes = mistakes_of(question, fields);
  question.variant = variant_of(fields);
  question.evidence = evidence_of(fields);
  const Item* paths = fields.take("paths");
  fields.refuse_others();
  if (paths != nullptr) question.paths = read_path_request(*paths, question.answer_from);
  check_source(question, fields);
  check_keys(question, table, fields, at);
  return question;
}

}  // namespace rankscope
