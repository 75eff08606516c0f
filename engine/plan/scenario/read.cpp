#include "engine/plan/scenario/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>

#include "engine/base/host/excerpt.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/data_source.hpp"
#include "engine/plan/scenario/document.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/measured.hpp"
#include "engine/plan/scenario/resources.hpp"
#include "engine/plan/scenario/usual_names.hpp"

namespace rankscope {
namespace {

using document::Item;
using document::refuse;
using document::Table;
using document::trimmed;
using document::Value;

/// The position of each given value, and whether it was given after --set: for error messages about it.
struct Places {
  std::map<std::string, std::string> file, set;
  /// Unknown names of choices, by key. Later values may replace them, so errors about them are reported last.
  std::map<std::string, std::string> unknown;
};

/// "file:1:1", or the text of an override: the place of a key in messages.
std::string place_of(const Complaint& complaint, const Places& places, const std::string& name) {
  // The file is more likely to be correct than the override just typed.
  for (const auto* known : {&places.set, &places.file})
    for (const std::string& key : complaint.keys)
      if (const auto at = known->find(key); at != known->end()) return at->second;
  return name + ":1:1";
}

std::optional<Complaint> complaint_about_names(const Places& places) {
  if (!places.unknown.empty())
    for (const Key& key : scenario_keys())
      if (const auto found = places.unknown.find(key.path()); found != places.unknown.end())
        return unknown_name(key.path(), found->second);
  return std::nullopt;
}

std::vector<std::string> keys_of(std::string_view table) {
  std::vector<std::string> names;
  for (const Key& key : scenario_keys())
    if (key.table == table) names.emplace_back(key.name);
  return names;
}

/// Tables that have a key of this name.
std::vector<std::string> tables_with(std::string_view name) {
  std::vector<std::string> tables;
  for (const Key& key : scenario_keys())
    if (key.name == name) tables.emplace_back(key.table);
  return tables;
}

std::vector<std::string> bracketed(std::vector<std::string> tables) {
  for (std::string& table : tables) table = "[" + table + "]";
  return tables;
}

std::vector<std::string> all_tables() {
  std::vector<std::string> names;
  for (std::string_view table : scenario_tables()) names.emplace_back(table);
  names.emplace_back("lab");
  return names;
}

/// The correction for an unknown key.
std::string suggestion(std::string_view name, std::string_view table) {
  if (const auto others = tables_with(name); !others.empty()) return "it belongs in " + listed(bracketed(others));
  if (const Key* key = find_key(key_called(name)))
    return "did you mean '" + std::string(key->name) + "'" +
           (key->table == table ? "?" : " of [" + std::string(key->table) + "]?");
  const std::vector<std::string> known = keys_of(table);
  if (const std::string near = nearest(name, known); !near.empty()) return "did you mean '" + near + "'?";
  if (const std::string near = nearest(name, keys_of(software_table)); table == cluster_table && !near.empty())
    return "did you mean '" + near + "' of [software]?";
  return "[" + std::string(table) + "] has " + listed(known);
}

/// Puts a value into a field, or reports the type that it should have.
class Assign {
 public:
  Assign(const std::string& at, std::string_view name, const Value& value) : at_(at), name_(name), value_(value) {}

  void operator()(int* field) const {
    const std::int64_t value = integer(*field);
    if (value < INT32_MIN || value > INT32_MAX)
      refuse(at_, fmt::format("{} = {} is out of range; it must be less than 2147483648", name_, value));
    *field = static_cast<int>(value);
  }
  void operator()(std::uint64_t* field) const {
    const std::int64_t value = integer(*field);
    if (value < 0) refuse(at_, fmt::format("{} = {} is out of range; it must be at least 0", name_, value));
    *field = static_cast<std::uint64_t>(value);
  }
  void operator()(double* field) const {
    if (const auto* integer = std::get_if<std::int64_t>(&value_.content))
      *field = static_cast<double>(*integer);
    else if (const auto* real = std::get_if<double>(&value_.content))
      *field = *real;
    else
      wrong_type("a number", "0.1");
  }
  void operator()(bool* field) const {
    if (const auto* value = std::get_if<bool>(&value_.content))
      *field = *value;
    else
      wrong_type("a boolean", *field ? "true" : "false");
  }
  void operator()(std::string* field) const {
    if (const auto* value = std::get_if<std::string>(&value_.content))
      *field = *value;
    else
      wrong_type("a string", "\"" + (field->empty() ? "text" : *field) + "\"");
  }
  void operator()(AnyChoice* field) {
    std::string name = field->name();
    (*this)(&name);
    if (!field->take(name)) unknown_ = name;
  }
  template <class T>
  void operator()(std::optional<T>* field) const {
    T value(8);  // an example that is in the range of every such key
    (*this)(&value);
    *field = value;
  }

  /// The unknown name, if the field's set does not have it; the field is unchanged then.
  const std::optional<std::string>& unknown() const { return unknown_; }

 private:
  /// `usual`: the current value, which is in the key's range.
  template <class T>
  std::int64_t integer(T usual) const {
    if (const auto* value = std::get_if<std::int64_t>(&value_.content)) return *value;
    wrong_type("an integer", fmt::to_string(usual));
  }
  [[noreturn]] void wrong_type(const std::string& requested, const std::string& example) const {
    refuse(at_, name_ + " is " + std::string(kind_of(value_)) + "; it takes " + requested + ", such as " + name_ +
                    " = " + example);
  }

  const std::string& at_;
  std::string name_;
  const Value& value_;
  std::optional<std::string> unknown_;
};

/// Returns Assign::unknown.
std::optional<std::string> assign(const Field& field, const std::string& at, std::string_view name,
                                  const Value& value) {
  Assign to(at, name, value);
  std::visit(to, field);
  return to.unknown();
}

void note(const Key& key, const std::optional<std::string>& unknown, Places& places) {
  if (unknown)
    places.unknown[key.path()] = *unknown;
  else
    places.unknown.erase(key.path());
}

void read_table(const Item& item, Scenario& scenario, Places& places) {
  for (const Item& entry : document::as<Table>(item, "it is a table: write [" + item.key + "] and its keys below")) {
    const Key* key = find_key(item.key + "." + entry.key);
    if (!key)
      refuse(entry.at, "unknown key '" + entry.key + "' in [" + item.key + "]; " + suggestion(entry.key, item.key));
    const auto [place, is_new] = places.file.try_emplace(key->path(), entry.at);
    if (!is_new)
      refuse(entry.at, entry.key + " is given twice, here and at " + place->second +
                           ": it is a key of [software], which files once had in [cluster]; remove one of the two");
    note(*key, assign(key->field(scenario), entry.at, key->name, entry.value), places);
  }
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
    if (const Key* key = find_key(key_called(given.key)))
      refuse(at, "unknown key '" + given.key + "'; did you mean '" + std::string(key->name) + "'?");
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

/// Returns Assign::unknown.
std::optional<std::string> put(const Field& field, std::string_view name, const std::string& text,
                               const std::string& at) {
  // A string needs no quotes on a command line, even if it looks like a number.
  const bool words = std::holds_alternative<std::string*>(field) || std::holds_alternative<AnyChoice*>(field);
  const Value value = words && !text.starts_with('"') ? Value{at, text} : document::parse_value(text, at);
  return assign(field, at, name, value);
}

void apply(const std::vector<Override>& overrides, Scenario& scenario, Places& places) {
  for (const Override& given : overrides) {
    const std::string at = "--set " + excerpt(given.key) + "=" + excerpt(given.value);
    if (given.key == "title") {
      put(&scenario.title, "title", given.value, at);
      continue;
    }
    const Key& key = key_of(given, at);
    note(key, put(key.field(scenario), key.name, given.value, at), places);
    places.set[key.path()] = at;
  }
}

/// Figures of the cluster that the scenario does not set itself are read from the cluster's file.
void read_cluster(Scenario& scenario, const std::string& name, const Places& places) {
  bool complete = true;
  for (const Key& key : scenario_keys())
    if (key.is_needed_of_cluster() && !places.file.contains(key.path()) && !places.set.contains(key.path()))
      complete = false;
  if (complete) return;
  const std::string& spec = scenario.cluster.spec;
  const std::filesystem::path file = find_resource("clusters", spec, name);
  if (file.empty()) {
    const std::vector<std::string> known = known_clusters(name);
    const std::string near = nearest(spec, known);
    std::string right = known.empty() ? "put a file " + spec +
                                            ".toml into a folder `clusters` beside the scenario, or "
                                            "set RANKSCOPE_RESOURCES to the folder that holds `clusters`"
                                      : "known: " + listed(known);
    if (!near.empty()) right = "did you mean '" + near + "'? " + right;
    refuse(place_of({{"cluster.spec"}, ""}, places, name), "unknown cluster '" + spec + "'; " + right);
  }
  Scenario of_file;
  of_file.cluster.spec = spec;
  Places in_file;
  for (const Item& item : document::parse_file(file.string())) {
    if (item.key == "title") continue;
    if (item.key != cluster_table && item.key != software_table)
      refuse(item.at,
             "a cluster file has no '" + item.key + "'; it has a title and the tables [cluster] and [software]");
    read_table(item, of_file, in_file);
  }
  for (const Key& key : scenario_keys()) {
    if (key.is_needed_of_cluster() && !in_file.file.contains(key.path()))
      refuse(file.string() + ":1:1", "the key " + std::string(key.name) + " is missing in [cluster]; give " +
                                         std::string(key.meaning) + ", and its source");
  }
  if (const auto complaint = complaint_about_names(in_file))
    refuse(place_of(*complaint, in_file, file.string()), complaint->what);
  // The scenario's own figures are not yet included: an error in one of those is not in the file.
  if (const auto complaint = complaint_about_values(of_file);
      complaint && find_key(complaint->keys[0])->is_of_cluster())
    refuse(place_of(*complaint, in_file, file.string()), complaint->what);
  for (const Key& key : scenario_keys()) {
    const std::string path = key.path();
    // The scenario's own values take precedence.
    if (!key.is_of_cluster() || !in_file.file.contains(path) || places.file.contains(path) || places.set.contains(path))
      continue;
    std::visit([&](auto* field) { *field = *std::get<decltype(field)>(key.field(of_file)); }, key.field(scenario));
  }
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
  read_cluster(scenario, name, places);
  read_costs(scenario, name, places);
  auto complaint = complaint_about_names(places);
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
  if (const auto unknown = put(key.field(scenario), key.name, given.value, at))
    refuse(at, unknown_name(key.path(), *unknown).what);
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
  auto complaint = complaint_about_names(places);
  if (!complaint) complaint = complaint_about_values(scenario);
  if (complaint) refuse(place_of(*complaint, places, name), complaint->what);
  return scenario;
}

std::vector<ChangedFigure> changed_figures(const ClusterSpec& cluster) {
  Scenario asked, of_file;
  asked.cluster = cluster;
  of_file.cluster.spec = cluster.spec;
  try {
    read_cluster(of_file, {}, {});
  } catch (const ScenarioError&) {
    return {};
  }
  std::vector<ChangedFigure> changed;
  for (const Key& key : scenario_keys()) {
    if (!key.is_of_cluster() || key.name == "measured") continue;
    const std::string value = written(key.field(asked));
    if (value != written(key.field(of_file))) changed.push_back({key.name, value});
  }
  return changed;
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
