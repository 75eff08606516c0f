#include "engine/plan/scenario/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/base/host/excerpt.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/advice.hpp"
#include "engine/plan/scenario/cluster.hpp"
#include "engine/plan/scenario/data_source.hpp"
#include "engine/plan/scenario/measured.hpp"
#include "engine/plan/scenario/resources.hpp"
#include "engine/plan/scenario/usual_names.hpp"
#include "engine/plan/scenario/values.hpp"

namespace rankscope {
namespace {

using document::Item;
using document::refuse;
using document::Table;
using document::trimmed;
using document::Value;

std::vector<std::string> all_tables() {
  std::vector<std::string> names;
  for (std::string_view table : scenario_tables()) names.emplace_back(table);
  names.emplace_back("lab");
  return names;
}

void read_tables(const Table& root, Scenario& scenario, Places& places) {
  const std::vector<std::string> known = all_tables();
  for (const Item& item : root) {
    if (item.key == "title") {
      assign(&scenario.title, item.at, "title", item.value);
    } else if (item.key == "lab") {
      // The lesson is not part of the training; lab.hpp reads it.
    } else if (contains(known, item.key)) {
      read_table(item, scenario, places);
    } else {
      const bool table = std::holds_alternative<Table>(item.value.content);
      const std::string what =
          table ? "unknown table [" + item.key + "]" : "unknown key '" + item.key + "' outside tables";
      std::string right = "there is " + listed(bracketed(known)) + ", and the key title";
      if (const std::string near = nearest(item.key, known); table && !near.empty())
        right = "did you mean [" + near + "]?";
      if (const auto tables = tables_with(item.key); !table && !tables.empty())
        right = "it belongs in " + listed(bracketed(tables));
      refuse(item.at, what + "; " + right);
    }
  }
}

/// The key of an override: "table.name", or a name that only one table has.
const Key& key_of(const Override& given, const std::string& at) {
  if (const Key* key = find_key(given.key)) return *key;
  const std::size_t dot = given.key.find('.');
  if (dot == std::string::npos) {
    const auto tables = tables_with(given.key);
    if (tables.size() == 1) return *find_key(tables[0] + "." + given.key);
    if (tables.size() > 1) {
      std::vector<std::string> paths;
      for (const std::string& table : tables) paths.push_back(table + "." + given.key);
      refuse(at, "several tables have a key '" + given.key + "'; write " + listed(paths) + ", so give the table");
    }
    if (const std::string meant = usual_key(given.key, {}); !meant.empty())
      refuse(at, "unknown key '" + given.key + "'; " + meant);
    std::vector<std::string> names;
    for (const Key& key : scenario_keys()) names.emplace_back(key.name);
    refuse(at, "unknown key '" + given.key + "'; " +
                   nearest_or(given.key, names, "write table.key, such as plan.pipeline"));
  }
  const std::string table = given.key.substr(0, dot), name = given.key.substr(dot + 1);
  if (keys_of(table).empty()) {
    const std::string near = nearest(table, all_tables());
    refuse(at, "unknown table '" + table + "'; " +
                   (near.empty() ? "there is " + listed(all_tables()) : "did you mean '" + near + "." + name + "'?"));
  }
  refuse(at, "unknown key '" + name + "' in [" + table + "]; " + suggestion(name, table));
}

/// Text after --set as a value. A string needs no quotes on a command line, even if it looks like a number.
Value typed_value(const Field& field, const std::string& text, const std::string& at) {
  const bool words = std::holds_alternative<std::string*>(field) || std::holds_alternative<AnyChoice*>(field);
  return words && !text.starts_with('"') ? Value{at, text} : document::parse_value(text, at);
}

void apply(const std::vector<Override>& overrides, Scenario& scenario, Places& places) {
  for (const Override& given : overrides) {
    const std::string at = "--set " + excerpt(given.key) + "=" + excerpt(given.value);
    if (given.key == "title") {
      assign(&scenario.title, at, "title", typed_value(&scenario.title, given.value, at));
      continue;
    }
    const Key& key = key_of(given, at);
    note(key, assign(key, scenario, at, typed_value(key.field(scenario), given.value, at)), places);
    places.set[key.path()] = at;
  }
  // Another kind of recomputation drops the file's number of blocks, which belongs to the kind there.
  if (places.set.contains("plan.recompute") && !places.set.contains("plan.recompute_blocks") &&
      scenario.plan.recompute != Recompute::blocks)
    scenario.plan.recompute_blocks = 1;
}

/// Makes the number of micro-batches of their size, if that was given.
std::optional<Complaint> settle_micro_batches(Scenario& scenario) {
  PlanSpec& plan = scenario.plan;
  const int size = plan.micro_batch_size, batch = scenario.train.global_batch;
  if (size <= 0 || plan.data <= 0) return std::nullopt;
  if (batch % (std::int64_t{plan.data} * size) != 0) {
    const Advisor advisor{scenario, nullptr};
    const std::vector<std::string> keys{"plan.micro_batch_size", "train.global_batch", "plan.data"};
    const std::string what = fmt::format("a batch of {} cannot be cut into micro-batches of {} on {}",
                                         counted(batch, "sample"), size, counted(plan.data, "data-parallel rank"));
    std::vector<std::pair<std::string, std::vector<std::string>>> ways;
    if (batch % plan.data == 0)
      ways.push_back({"micro_batch_size", advisor.divisors_near("plan.micro_batch_size", batch / plan.data, size)});
    ways.push_back(
        {"global_batch", advisor.multiples_near("train.global_batch", std::int64_t{plan.data} * size, batch)});
    return Complaint{keys, what + "; " + would_do(ways)};
  }
  plan.micro_batches = batch / plan.data / size;
  plan.micro_batch_size = 0;
  return std::nullopt;
}

/// Of a size and a number of micro-batches the one after --set counts; both in one place must agree.
std::optional<Complaint> settle_micro_batches(Scenario& scenario, const Places& places) {
  const std::string size = "plan.micro_batch_size", number = "plan.micro_batches";
  if (places.set.contains(number) && !places.set.contains(size)) scenario.plan.micro_batch_size = 0;
  const int given = scenario.plan.micro_batches;
  if (auto complaint = settle_micro_batches(scenario)) return complaint;
  const bool together = (places.set.contains(size) && places.set.contains(number)) ||
                        (!places.set.contains(size) && !places.set.contains(number) && places.file.contains(size) &&
                         places.file.contains(number));
  const int made = scenario.plan.micro_batches;
  if (!together || scenario.micro_batch_size() == 0 || given == made) return std::nullopt;
  return Complaint{
      {number, size},
      fmt::format("micro_batches = {} and micro_batch_size = {} cannot both be true of {} on {}; remove one "
                  "of them",
                  given, scenario.micro_batch_size(), counted(scenario.train.global_batch, "sample"),
                  counted(scenario.plan.data, "data-parallel rank"))};
}

/// The file named by cluster.measured.
void read_costs(Scenario& scenario, const std::string& name, const Places& places) {
  ClusterSpec& cluster = scenario.cluster;
  if (cluster.measured.empty()) return;
  const std::filesystem::path file = find_resource("measured", cluster.measured, name);
  if (file.empty())
    refuse(place_of({{"cluster.measured", "cluster.spec"}, ""}, places, name),
           "unknown measured ops '" + cluster.measured + "'; put a file " + cluster.measured +
               ".toml into a folder `measured` beside the scenario, or use measured = \"\"");
  cluster.costs = read_measured(file).rows;
}

Scenario read(const Table& root, const std::string& name, const std::vector<Override>& overrides,
              const ExtraCheck& extra_check) {
  Scenario scenario;
  scenario.file = name;
  Places places;
  read_tables(root, scenario, places);
  apply(overrides, scenario, places);
  auto complaint = complaint_about_names(places);
  if (!complaint) complaint = complaint_about_values(scenario);
  if (complaint) refuse(place_of(*complaint, places, name), complaint->what);
  read_cluster(scenario, name, places);
  read_costs(scenario, name, places);
  complaint = settle_micro_batches(scenario, places);
  if (!complaint) complaint = first_complaint(scenario);
  if (!complaint && extra_check) complaint = extra_check(scenario);
  if (complaint) refuse(place_of(*complaint, places, name), complaint->what);
  return scenario;
}

}  // namespace

Override parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw ScenarioError("--set " + excerpt(text) + ": there is no '='; write key=value, such as plan.pipeline=4");
  Override given{trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
  if (given.key.empty())
    throw ScenarioError("--set " + excerpt(text) + ": there is no key; write key=value, such as plan.pipeline=4");
  return given;
}

std::string full_key(const std::string& typed, const std::string& at) { return key_of({typed, ""}, at).path(); }

void set_value(Scenario& scenario, const Override& given, const std::string& at) {
  const Key& key = key_of(given, at);
  if (const auto unknown = assign(key, scenario, at, typed_value(key.field(scenario), given.value, at)))
    refuse(at, unknown_name(key.path(), *unknown).what);
  if (const auto complaint = settle_micro_batches(scenario)) refuse(at, complaint->what);
}

Scenario read_scenario(const std::string& path, const std::vector<Override>& overrides, const ExtraCheck& extra_check) {
  return read(document::parse_file(path), path, overrides, extra_check);
}

Scenario read_unchecked(const std::string& path, const std::vector<Override>& overrides) {
  Scenario scenario;
  scenario.file = path;
  Places places;
  read_tables(document::parse_file(path), scenario, places);
  apply(overrides, scenario, places);
  if (const auto complaint = complaint_about_names(places)) refuse(place_of(*complaint, places, path), complaint->what);
  return scenario;
}

std::string place_of_key(const std::string& path, const std::vector<Override>& overrides, const std::string& key) {
  Scenario scenario;
  Places places;
  read_tables(document::parse_file(path), scenario, places);
  apply(overrides, scenario, places);
  return place_of({{key}, ""}, places, path);
}

Scenario parse_scenario(const std::string& text, const std::string& name, const std::vector<Override>& overrides) {
  return read(document::parse(text, name), name, overrides, {});
}

Scenario parse_recorded_scenario(const std::string& text) {
  const std::string name = "recorded scenario";
  Scenario scenario;
  Places places;
  read_tables(document::parse(text, name), scenario, places);
  // Before collectives were a property of the software, a machine without a number of ports had the engine's.
  if (scenario.cluster.rails == 0 && !places.has("software.collectives"))
    scenario.cluster.software.collectives = Collectives::engine;
  auto complaint = complaint_about_names(places);
  if (!complaint) complaint = complaint_about_values(scenario);
  if (complaint) refuse(place_of(*complaint, places, name), complaint->what);
  return scenario;
}

void check_scenario(const Scenario& scenario) {
  if (const auto complaint = first_complaint(scenario)) refuse(complaint->keys[0], complaint->what);
}

std::string data_file(const Scenario& scenario) {
  const auto named = named_source(scenario.data);
  if (!named || named->file.empty()) return {};
  const std::filesystem::path path = named->file;
  if (path.is_absolute() || scenario.file.empty()) return path.string();
  return (std::filesystem::path(scenario.file).parent_path() / path).lexically_normal().string();
}

}  // namespace rankscope
