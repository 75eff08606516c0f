// Puts a document's values into a scenario, and keeps where each was given. Internal to the room.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/document.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope {

/// The position of each given value, and whether it was given after --set: for error messages about it.
struct Places {
  std::string name;  ///< of the file
  std::map<std::string, std::string> file, set;
  /// Unknown names of choices, by key. Later values may replace them, so errors about them are reported last.
  std::map<std::string, std::string> unknown;
  bool has(const std::string& key) const { return file.contains(key) || set.contains(key); }
};

/// "file:1:1", or the text of an override: the place of a key in messages.
std::string place_of(const Complaint& complaint, const Places& places, const std::string& name);
std::optional<Complaint> complaint_about_names(const Places& places);

std::vector<std::string> keys_of(std::string_view table);
/// Tables that have a key of this name.
std::vector<std::string> tables_with(std::string_view name);
/// "[plan]" of each.
std::vector<std::string> bracketed(std::vector<std::string> tables);
/// The correction for an unknown key.
std::string suggestion(std::string_view name, std::string_view table);

/// Puts a value into a field. Throws ScenarioError for one of another type; returns the unknown name, if the field's
/// set does not have it, and leaves the field unchanged then.
std::optional<std::string> assign(const Field& field, const std::string& at, std::string_view name,
                                  const document::Value& value);
/// The same for a key. The case of a known name's letters does not matter.
std::optional<std::string> assign(const Key& key, Scenario& scenario, const std::string& at,
                                  const document::Value& value);
/// Keeps an unknown name, or forgets that of an earlier value.
void note(const Key& key, const std::optional<std::string>& unknown, Places& places);
/// Reads one table's keys.
void read_table(const document::Item& item, Scenario& scenario, Places& places);

}  // namespace rankscope
