#include "engine/lesson/lab/lab.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "engine/lesson/lab/fields.hpp"
#include "engine/lesson/lab/read_question.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/kind.hpp"
#include "engine/plan/scenario/document.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

using document::Item;
using document::refuse;
using document::Table;

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

bool is_purpose(std::string_view word) {
  for (int i = 1; i < purpose_count; ++i)
    if (word == name_of(static_cast<Purpose>(i))) return true;
  return false;
}

std::optional<Lab> lab_of(const Table& root, const std::string& name) {
  const Item* item = document::find(root, "lab");
  if (!item) return std::nullopt;
  Lab lab;
  lab.file = name;
  if (const Item* title = document::find(root, "title"))
    if (const auto* text = std::get_if<std::string>(&title->value.content)) lab.title = *text;
  Fields fields(document::as<Table>(*item, "it is a table: write [lab]"), "[lab]");
  fields.take("order");  // in files older than courses, which now define the order
  lab.minutes = static_cast<int>(fields.number("minutes", 0));
  lab.summary = fields.text("summary", item->at, true);
  lab.text = fields.text("text", item->at, true);
  lab.view = fields.text("view", item->at, false);
  lab.teacher = fields.text("teacher", item->at, false);
  lab.needs = fields.texts("needs");
  if (const Table* symbols = fields.table("symbols", "{ M = \"bytes moved\" }")) {
    Fields own(*symbols, "[lab.symbols]");
    for (const Item& symbol : *symbols) lab.symbols[symbol.key] = own.text(symbol.key, symbol.at, true);
  }
  for (const auto& [question, at] : fields.tables("questions")) lab.questions.push_back(read_question(*question, at));
  fields.refuse_others();
  return lab;
}

}  // namespace

std::optional<Lab> read_lab(const std::string& path) { return lab_of(document::parse_file(path), path); }

std::optional<Lab> parse_lab(const std::string& text, const std::string& name) {
  return lab_of(document::parse(text, name), name);
}

std::string Lab::name() const { return std::filesystem::path(file).stem().string(); }

bool is_report_value(const std::string& path) {
  if (contains(scalars, path)) return true;
  const std::size_t first = path.find('.'), last = path.rfind('.');
  if (first == std::string::npos || first == last) return false;
  const std::string head = path.substr(0, first), middle = path.substr(first + 1, last - first - 1);
  const std::string field = path.substr(last + 1);
  const bool all = middle == "*";
  if (head == "memory")
    return !middle.empty() && (all || middle.find_first_not_of("0123456789") == std::string::npos) &&
           contains(memory_fields, field);
  if (head == "steps") return all && contains(step_fields, field);
  return head == "traffic" && is_purpose(middle) && contains(traffic_fields, field);
}

}  // namespace rankscope
