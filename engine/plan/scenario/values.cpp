#include "engine/plan/scenario/values.hpp"

#include <cstdint>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/usual_names.hpp"

namespace rankscope {
namespace {

using document::Item;
using document::refuse;
using document::Table;
using document::Value;

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

}  // namespace

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

std::string suggestion(std::string_view name, std::string_view table) {
  if (const auto others = tables_with(name); !others.empty()) return "it belongs in " + listed(bracketed(others));
  if (const std::string meant = usual_key(name, table); !meant.empty()) return meant;
  const std::vector<std::string> known = keys_of(table);
  if (const std::string near = nearest(name, known); !near.empty()) return "did you mean '" + near + "'?";
  if (const std::string near = nearest(name, keys_of(software_table)); table == cluster_table && !near.empty())
    return "did you mean '" + near + "' of [software]?";
  return "[" + std::string(table) + "] has " + listed(known);
}

std::optional<std::string> assign(const Field& field, const std::string& at, std::string_view name,
                                  const Value& value) {
  Assign to(at, name, value);
  std::visit(to, field);
  return to.unknown();
}

std::optional<std::string> assign(const Key& key, Scenario& scenario, const std::string& at, const Value& value) {
  const Field field = key.field(scenario);
  const auto unknown = assign(field, at, key.name, value);
  if (auto* const* word = std::get_if<std::string*>(&field)) {
    if (contains(choices(key.path()), lowered(**word))) **word = lowered(**word);
  } else if (unknown && std::get<AnyChoice*>(field)->take(lowered(*unknown))) {
    return std::nullopt;
  }
  return unknown;
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
    note(*key, assign(*key, scenario, entry.at, entry.value), places);
  }
}

}  // namespace rankscope
