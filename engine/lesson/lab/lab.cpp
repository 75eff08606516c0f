#include "engine/lesson/lab/lab.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "engine/op/kind.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/document.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/resources.hpp"

namespace rankscope {
namespace {

using document::Item;
using document::refuse;
using document::Table;

struct Unit {
  std::string_view name;
  double scale;
};
constexpr Unit units[] = {
    {"", 1},          {"%", 100},  {"ms", 1e3},  {"s", 1}, {"KiB", 1.0 / 1024}, {"MiB", 1.0 / (1 << 20)},
    {"GFLOP/s", 1e3}, {"nats", 1}, {"steps", 1},
};

/// Scalars of the report, and the fields of its list entries (DESIGN.md, `--json`).
constexpr std::string_view scalars[] = {
    "step_seconds",
    "mfu",
    "hfu",
    "tflops_per_device",
    "bubble.ideal",
    "bubble.predicted",
    "bubble.measured",
    "bubble_span.ideal",
    "bubble_span.predicted",
    "bubble_span.measured",
    "time.compute",
    "time.recompute",
    "time.tensor",
    "time.pipeline",
    "time.data",
    "time.zero",
    "time.optimizer",
    "time.bubble",
    "time.other",
};
constexpr std::string_view memory_fields[] = {"parameters", "gradients", "optimizer", "activations",
                                              "buffers",    "workspace", "context",   "peak"};
constexpr std::string_view step_fields[] = {"loss", "grad_norm", "seconds", "tokens_per_s"};
constexpr std::string_view traffic_fields[] = {"count", "bytes_per_rank", "predicted"};

template <class Range>
bool holds(const Range& range, std::string_view value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

bool is_purpose(std::string_view word) {
  for (int i = 1; i < purpose_count; ++i)
    if (word == name_of(static_cast<Purpose>(i))) return true;
  return false;
}

/// The keys of one table, each taken once; what is left over is refused.
class Fields {
 public:
  Fields(const Table& table, std::string where) : table_(table), where_(std::move(where)) {}

  std::string text(const std::string& key, const std::string& owner_at, bool needed) {
    const Item* item = take(key);
    if (!item && needed) refuse(owner_at, "the key '" + key + "' is missing in " + where_ + "; give a string");
    if (!item) return {};
    const auto* value = std::get_if<std::string>(&item->value.content);
    if (!value) refuse(item->at, key + " is " + std::string(kind_of(item->value)) + "; it takes a string");
    return *value;
  }
  double number(const std::string& key, double otherwise) {
    const Item* item = take(key);
    if (!item) return otherwise;
    if (const auto* integer = std::get_if<std::int64_t>(&item->value.content)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&item->value.content)) return *real;
    refuse(item->at, key + " is " + std::string(kind_of(item->value)) + "; it takes a number");
  }
  const Item* take(const std::string& key) {
    known_.push_back(key);
    return document::find(table_, key);
  }
  /// Where a key stands; for complaints about its value.
  std::string at(const std::string& key) const { return document::find(table_, key)->at; }
  void refuse_others() const {
    for (const Item& item : table_) {
      if (holds(known_, item.key)) continue;
      const std::string near = nearest(item.key, known_);
      refuse(item.at, "unknown key '" + item.key + "' in " + where_ + "; " +
                          (near.empty() ? where_ + " has " + listed(known_) : "did you mean '" + near + "'?"));
    }
  }

 private:
  const Table& table_;
  std::string where_;
  std::vector<std::string> known_;
};

void check_optimizer(const std::string& name, const std::string& at) {
  const std::vector<std::string> known = optimizer_names();
  if (holds(known, name)) return;
  const std::string near = nearest(name, known);
  refuse(at, "unknown optimizer '" + name + "'; " +
                 (near.empty() ? "known: " + listed(known) : "did you mean '" + near + "'?"));
}

/// Learning rates, a number for each optimizer.
std::map<std::string, double> rates_of(const Item& item) {
  const auto* table = std::get_if<Table>(&item.value.content);
  if (!table)
    refuse(item.at, "rates is " + std::string(kind_of(item.value)) + "; write it as { sgd = 0.1, adam = 0.01 }");
  std::map<std::string, double> rates;
  Fields fields(*table, "rates");
  for (const Item& rate : *table) {
    check_optimizer(rate.key, rate.at);
    rates[rate.key] = fields.number(rate.key, 0);
    if (!(rates[rate.key] > 0)) refuse(rate.at, rate.key + " takes a rate greater than 0");
  }
  return rates;
}

/// The paths that a question is about. Those of the optimizers with a rate are shown, and of the one that is asked for.
PathRequest path_request_of(const Item& item, const std::string& asked) {
  const auto* table = std::get_if<Table>(&item.value.content);
  if (!table)
    refuse(item.at, "paths is " + std::string(kind_of(item.value)) +
                        "; write it as { surface = \"ravine\", rates = { sgd = 0.1 } }");
  Fields fields(*table, "paths");
  PathRequest request;
  request.surface = fields.text("surface", item.at, true);
  request.condition = fields.number("condition", usual_condition);
  request.steps = static_cast<int>(fields.number("steps", 0));
  request.noise = fields.number("noise", 0);
  if (const Item* rates = fields.take("rates")) request.rates = rates_of(*rates);
  fields.refuse_others();
  try {
    make_surface(request.surface, request.condition);
  } catch (const std::invalid_argument& error) {
    refuse(fields.at("surface"), error.what());
  }
  if (request.steps < 0 || request.steps > most_path_steps || request.noise < 0)
    refuse(item.at, "steps are from 0, which is the surface's own, to " + std::to_string(most_path_steps) +
                        ", and noise is not negative");
  for (const std::string& optimizer : optimizer_names())
    if (optimizer == asked || request.rates.count(optimizer) > 0) request.optimizers.push_back(optimizer);
  return request;
}

Question question_of(const Table& table, const std::string& at) {
  Fields fields(table, "[[lab.questions]]");
  Question question;
  question.ask = fields.text("ask", at, true);
  question.unit = fields.text("unit", at, false);
  question.answer_from = fields.text("answer_from", at, true);
  question.tolerance = fields.number("tolerance", 0);
  question.most = fields.number("most", 0);
  question.why = fields.text("why", at, false);
  const Item* paths = fields.take("paths");
  fields.refuse_others();
  const auto* unit = std::find_if(std::begin(units), std::end(units), [&](Unit u) { return u.name == question.unit; });
  if (unit == std::end(units)) {
    std::vector<std::string> known;
    for (const Unit& u : units)
      if (!u.name.empty()) known.emplace_back(u.name);
    refuse(fields.at("unit"), "unknown unit '" + question.unit + "'; known: " + listed(known));
  }
  question.scale = unit->scale;
  if (paths != nullptr) {
    if (!is_path_value(question.answer_from))
      refuse(fields.at("answer_from"),
             "paths have no '" + question.answer_from + "'; name one of their values, such as \"paths.sgd.reached\"");
    const std::string& from = question.answer_from;
    const std::size_t dot = from.find('.') + 1;
    question.paths = path_request_of(*paths, from.substr(dot, from.rfind('.') - dot));
  } else if (is_path_value(question.answer_from)) {
    refuse(fields.at("answer_from"), "'" + question.answer_from +
                                         "' is of optimizers on a surface; say which, such as paths = { surface = "
                                         "\"ravine\", rates = { sgd = 0.1 } }");
  } else if (!is_report_value(question.answer_from))
    refuse(fields.at("answer_from"),
           "the report has no '" + question.answer_from + "'; name one of its values, such as \"bubble.measured\"");
  if (question.drawn() != (question.most > 0))
    refuse(question.drawn() ? at : fields.at("most"),
           question.drawn() ? "a drawn answer needs 'most', the top of what one draws on, in the question's unit"
                            : "most is the top of what one draws on, and '" + question.answer_from +
                                  "' is one number; take it away, or ask for a value of each, such as "
                                  "\"memory.*.activations\"");
  if (question.tolerance <= 0)
    refuse(document::find(table, "tolerance") ? fields.at("tolerance") : at,
           "a prediction is never exactly right; give a tolerance greater than 0, in the question's unit");
  return question;
}

std::optional<Lab> lab_of(const Table& root, const std::string& name) {
  const Item* item = document::find(root, "lab");
  if (!item) return std::nullopt;
  const auto* table = std::get_if<Table>(&item->value.content);
  if (!table) refuse(item->at, "lab is " + std::string(kind_of(item->value)) + "; it is a table: write [lab]");
  Lab lab;
  lab.file = name;
  if (const Item* title = document::find(root, "title"))
    if (const auto* text = std::get_if<std::string>(&title->value.content)) lab.title = *text;
  Fields fields(*table, "[lab]");
  lab.order = static_cast<int>(fields.number("order", 0));
  lab.summary = fields.text("summary", item->at, true);
  lab.text = fields.text("text", item->at, true);
  lab.view = fields.text("view", item->at, false);
  if (const Item* questions = fields.take("questions")) {
    const auto* list = std::get_if<document::Array>(&questions->value.content);
    if (!list)
      refuse(questions->at,
             "questions is " + std::string(kind_of(questions->value)) + "; write each under a [[lab.questions]] line");
    for (const document::Value& entry : *list) {
      const auto* fields_of_question = std::get_if<Table>(&entry.content);
      if (!fields_of_question) refuse(entry.at, "a question is a table; write it under a [[lab.questions]] line");
      lab.questions.push_back(question_of(*fields_of_question, entry.at));
    }
  }
  fields.refuse_others();
  return lab;
}

}  // namespace

std::string_view group_of(const Lab& lab) {
  if (lab.order < 10) return "One device";
  if (lab.order < 20) return "Data parallel, memory and precision";
  if (lab.order < 30) return "Pipelines";
  if (lab.order < 40) return "Tensor parallel and whole grids";
  return "Clusters you do not own (simulated)";
}

std::optional<Lab> read_lab(const std::string& path) { return lab_of(document::parse_file(path), path); }

std::optional<Lab> parse_lab(const std::string& text, const std::string& name) {
  return lab_of(document::parse(text, name), name);
}

std::vector<Lab> all_labs() {
  std::vector<Lab> labs;
  for (const auto& file : lab_files())
    if (auto lab = read_lab(file.string())) labs.push_back(std::move(*lab));
  std::stable_sort(labs.begin(), labs.end(), [](const Lab& a, const Lab& b) { return a.order < b.order; });
  return labs;
}

bool is_report_value(const std::string& path) {
  if (holds(scalars, path)) return true;
  const std::size_t first = path.find('.'), last = path.rfind('.');
  if (first == std::string::npos || first == last) return false;
  const std::string head = path.substr(0, first), middle = path.substr(first + 1, last - first - 1);
  const std::string field = path.substr(last + 1);
  const bool all = middle == "*";
  if (head == "memory")
    return !middle.empty() && (all || middle.find_first_not_of("0123456789") == std::string::npos) &&
           holds(memory_fields, field);
  if (head == "steps") return all && holds(step_fields, field);
  return head == "traffic" && is_purpose(middle) && holds(traffic_fields, field);
}

}  // namespace rankscope
