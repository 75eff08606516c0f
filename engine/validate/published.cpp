#include "engine/validate/published.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>

#include "engine/scenario/keys.hpp"
#include "engine/scenario/read.hpp"
#include "engine/scenario/resources.hpp"

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
                                        {"hardware_share", Quantity::hardware_share},
                                        {"device_hours", Quantity::device_hours},
                                        {"device_joules", Quantity::device_joules}};

[[noreturn]] void refuse(const std::string& file, const toml::node& at, const std::string& what) {
  const toml::source_position place = at.source().begin;
  throw ScenarioError(file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + what);
}

std::string text_of(const std::string& file, const toml::node& value) {
  if (const auto s = value.as_string()) return s->get();
  if (const auto i = value.as_integer()) return std::to_string(i->get());
  if (const auto d = value.as_floating_point()) return plain(d->get());
  if (const auto b = value.as_boolean()) return b->get() ? "true" : "false";
  refuse(file, value, "a scenario's value is a text, a number, true or false");
}

/// The scenario's keys of a row, a choice or what all rows have: tables model, plan, train, cluster within it.
void add_keys(std::vector<Override>& keys, const std::string& file, const toml::table& from) {
  for (const auto& [table, content] : from)
    if (const toml::table* values = content.as_table())
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
    if (unit_of(table.unit) == 0)
      refuse(file_, root_, "unit '" + table.unit + "' is none of s, ms, us, h, GB, 1000 MiB, TJ and %");
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
    if ((quantity == Quantity::device_hours || quantity == Quantity::device_joules) && !(row.tokens > 0))
      refuse(file_, node, "a row of device_hours or device_joules has tokens");
    row.fitted = (*from)["fitted"].value_or(false);
    std::vector<Override> keys = common_;
    add_keys(keys, file_, *from);
    const toml::array* choices = (*from)["choices"].as_array();
    if (!choices) choices = root_["choices"].as_array();
    if (!choices) {
      row.choices.push_back(scenario(node, keys));
    } else {
      for (const toml::node& choice : *choices) {
        if (!choice.is_table()) refuse(file_, choice, "a choice is a table");
        std::vector<Override> with = keys;
        add_keys(with, file_, *choice.as_table());
        row.choices.push_back(scenario(choice, with));
      }
    }
    return row;
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
  if (unit == "s") return 1;
  if (unit == "ms") return 1e-3;
  if (unit == "us") return 1e-6;
  if (unit == "h") return 3600;
  if (unit == "GB") return 1e9;
  if (unit == "1000 MiB") return 1000 * 1048576.0;
  if (unit == "TJ") return 1e12;
  return unit == "%" ? 1e-2 : 0;
}

PublishedTable read_published(const std::filesystem::path& file) {
  try {
    return Reader(file.string()).read();
  } catch (const toml::parse_error& e) {
    const toml::source_position at = e.source().begin;
    throw ScenarioError(file.string() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
                        std::string(e.description()));
  }
}

std::vector<PublishedTable> read_all_published() {
  std::vector<PublishedTable> tables;
  for (const std::filesystem::path& folder : resource_folders()) {
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator entry(folder / "published", error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().extension() == ".toml") files.push_back(entry->path());
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) tables.push_back(read_published(file));
    if (!tables.empty()) break;
  }
  if (tables.empty()) throw ScenarioError("no published tables are installed (scenarios/published/*.toml)");
  return tables;
}

}  // namespace rankscope
