#include "engine/explain/validate/published.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>

#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/resources.hpp"

namespace rankscope {
namespace {

struct NamedQuantity {
  const char* name;
  Quantity quantity;
};
constexpr NamedQuantity quantities[] = {{"step_seconds", Quantity::step_seconds},
                                        {"span_seconds", Quantity::span_seconds},
                                        {"program_seconds", Quantity::program_seconds},
                                        {"block_forward_seconds", Quantity::block_forward_seconds},
                                        {"block_backward_seconds", Quantity::block_backward_seconds},
                                        {"all_reduce_seconds", Quantity::all_reduce_seconds},
                                        {"peak_bytes", Quantity::peak_bytes},
                                        {"reserved_bytes", Quantity::reserved_bytes},
                                        {"block_kept_bytes", Quantity::block_kept_bytes},
                                        {"hardware_share", Quantity::hardware_share},
                                        {"model_share", Quantity::model_share},
                                        {"hardware_flops_rate", Quantity::hardware_flops_rate},
                                        {"model_flops_rate", Quantity::model_flops_rate},
                                        {"samples_per_second", Quantity::samples_per_second},
                                        {"samples_per_device_second", Quantity::samples_per_device_second},
                                        {"bubble_of_times", Quantity::bubble_of_times},
                                        {"training_seconds", Quantity::training_seconds},
                                        {"device_hours", Quantity::device_hours},
                                        {"device_joules", Quantity::device_joules},
                                        {"fastest_micro_batch", Quantity::fastest_micro_batch},
                                        {"largest_parameters", Quantity::largest_parameters},
                                        {"parameters_by_states", Quantity::parameters_by_states},
                                        {"checkpoint_bytes", Quantity::checkpoint_bytes},
                                        {"state_bytes", Quantity::state_bytes}};

struct Unit {
  const char* name;
  double in_si;
};
constexpr Unit units[] = {{"s", 1},       {"ms", 1e-3},      {"us", 1e-6}, {"h", 3600},
                          {"d", 86400},   {"GB", 1e9},       {"TB", 1e12}, {"1000 MiB", 1000 * 1048576.0},
                          {"TJ", 1e12},   {"TFLOP/s", 1e12}, {"%", 1e-2},  {"x", 1},
                          {"samples", 1}, {"B", 1e9}};

bool has_tokens(Quantity quantity) {
  return quantity == Quantity::training_seconds || quantity == Quantity::device_hours ||
         quantity == Quantity::device_joules;
}

[[noreturn]] void refuse(const std::string& file, const toml::node& at, const std::string& what) {
  const toml::source_position place = at.source().begin;
  throw ScenarioError(fmt::format("{}:{}:{}: {}", file, place.line, place.column, what));
}

std::string text_of(const std::string& file, const toml::node& value) {
  if (const auto s = value.as_string()) return s->get();
  if (const auto i = value.as_integer()) return std::to_string(i->get());
  if (const auto d = value.as_floating_point()) return plain(d->get());
  if (const auto b = value.as_boolean()) return b->get() ? "true" : "false";
  refuse(file, value, "a scenario's value is a text, a number, true or false");
}

/// The scenario's keys of a row, a choice or of all rows: tables model, plan, train, cluster, software within
/// it. Its denominator is in another scenario.
void add_keys(std::vector<Override>& keys, const std::string& file, const toml::table& from) {
  for (const auto& [table, content] : from)
    if (const toml::table* values = content.as_table(); values && table.str() != "against")
      for (const auto& [key, value] : *values)
        keys.push_back({std::string(table.str()) + "." + std::string(key.str()), text_of(file, value)});
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)), root_(toml::parse_file(file_)) {}

  PublishedTable read() {
    PublishedTable table;
    table.file = std::filesystem::path(file_).stem().string();
    table.title = text("title");
    table.source = text("source");
    table.constants = text("constants");
    table.unit = text("unit");
    if (unit_of(table.unit) == 0) {
      std::vector<std::string_view> known;
      for (const Unit& unit : units) known.push_back(unit.name);
      refuse(file_, root_, fmt::format("unit '{}' is none of {}", table.unit, fmt::join(known, ", ")));
    }
    table.judged = root_["judged"].value_or(true);
    table.held_out = root_["held_out"].value_or(false);
    const std::string named = text("quantity");
    const auto known = std::find_if(std::begin(quantities), std::end(quantities),
                                    [&](const NamedQuantity& q) { return named == q.name; });
    if (known == std::end(quantities)) refuse(file_, *root_.get("quantity"), "unknown quantity '" + named + "'");
    table.quantity = known->quantity;
    if (const toml::table* common = root_["common"].as_table()) add_keys(common_, file_, *common);
    const toml::array* rows = root_["rows"].as_array();
    if (!rows) refuse(file_, root_, "there are no rows; they are an array of tables");
    for (const toml::node& row : *rows) table.rows.push_back(row_of(row, table.quantity));
    return table;
  }

 private:
  std::string text(const char* key) {
    if (const auto value = root_[key].value<std::string>()) return *value;
    refuse(file_, root_, std::string("the key '") + key + "' is missing, or is no text");
  }

  PublishedRow row_of(const toml::node& node, Quantity quantity) {
    const toml::table* from = node.as_table();
    if (!from) refuse(file_, node, "a row is a table");
    PublishedRow row;
    const auto name = (*from)["name"].value<std::string>();
    const auto published = (*from)["published"].value<double>();
    if (!name || !published) refuse(file_, node, "a row has a name and a number 'published'");
    row.name = *name;
    row.published = *published;
    row.bytes = (*from)["bytes"].value_or(0.0);
    row.tokens = (*from)["tokens"].value_or(0.0);
    row.parameters = (*from)["parameters"].value_or(0.0);
    if (has_tokens(quantity) && !(row.tokens > 0))
      refuse(file_, node, "a row of training_seconds, device_hours or device_joules has tokens");
    if (quantity == Quantity::state_bytes && !(row.parameters > 0))
      refuse(file_, node, "a row of state_bytes has parameters");
    row.fitted = (*from)["fitted"].value_or(false);
    std::vector<Override> keys = common_;
    add_keys(keys, file_, *from);
    const toml::array* choices = (*from)["choices"].as_array();
    if (!choices) choices = root_["choices"].as_array();
    if (!choices) {
      add_choice(row, node, keys, {from});
    } else {
      for (const toml::node& choice : *choices) {
        if (!choice.is_table()) refuse(file_, choice, "a choice is a table");
        std::vector<Override> with = keys;
        add_keys(with, file_, *choice.as_table());
        add_choice(row, choice, with, {from, choice.as_table()});
      }
    }
    if (!row.against.empty() && row.against.size() != row.choices.size())
      refuse(file_, node, "either all of a row's choices are held against another scenario, or none");
    return row;
  }

  /// The scenario and its denominator: its own keys, overridden by the file's, the row's and the choice's.
  void add_choice(PublishedRow& row, const toml::node& at, std::vector<Override> keys,
                  const std::vector<const toml::table*>& from) {
    row.choices.push_back(scenario(at, keys));
    bool is_ratio = false;
    const auto add = [&](const toml::table& table) {
      if (const toml::table* against = table["against"].as_table()) {
        add_keys(keys, file_, *against);
        is_ratio = true;
      }
    };
    add(root_);
    for (const toml::table* table : from) add(*table);
    if (is_ratio) row.against.push_back(scenario(at, keys));
  }

  Scenario scenario(const toml::node& at, const std::vector<Override>& keys) {
    try {
      return parse_scenario("", file_, keys);
    } catch (const ScenarioError& e) {
      refuse(file_, at, e.what());
    }
  }

  std::string file_;
  toml::table root_;
  std::vector<Override> common_;
};

}  // namespace

double unit_of(const std::string& unit) {
  for (const Unit& known : units)
    if (unit == known.name) return known.in_si;
  return 0;
}

double steps_of(const PublishedRow& row, const Scenario& scenario) {
  return row.tokens / (static_cast<double>(scenario.train.global_batch) * scenario.model.tokens_per_sample());
}

PublishedTable read_published(const std::filesystem::path& file) {
  try {
    return Reader(file.string()).read();
  } catch (const toml::parse_error& e) {
    const toml::source_position at = e.source().begin;
    throw ScenarioError(fmt::format("{}:{}:{}: {}", file.string(), at.line, at.column, e.description()));
  }
}

std::vector<PublishedTable> read_all_published() {
  std::vector<PublishedTable> tables;
  for (const std::filesystem::path& folder : resource_folders()) {
    for (const std::filesystem::path& file : toml_files(folder / "published")) tables.push_back(read_published(file));
    if (!tables.empty()) break;
  }
  if (tables.empty()) throw ScenarioError("no published tables are installed (scenarios/published/*.toml)");
  return tables;
}

}  // namespace rankscope
