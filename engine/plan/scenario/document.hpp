// A TOML file as plain values with positions. Internal to the room: the only place that uses the TOML library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rankscope::document {

struct Item;
using Table = std::vector<Item>;  ///< in the file's order
struct Value;
using Array = std::vector<Value>;
struct OtherKind {};  ///< a date or a time: no key accepts one

struct Value {
  std::string at;  ///< its position: "file:line:column", or "--set key=value"
  std::variant<bool, std::int64_t, double, std::string, Array, Table, OtherKind> content;
};

struct Item {
  std::string key;
  std::string at;  ///< of the key
  Value value;
};

/// Parses; throws ScenarioError "name:line:column: …; …" for text that is not TOML.
Table parse(std::string_view text, const std::string& name);
/// Reads and parses a file; throws ScenarioError if it cannot be read, or is too large for a scenario.
Table parse_file(const std::string& path);
/// A single value as allowed after "=": TOML, except that text without quotes is a string. `at` is its position.
Value parse_value(std::string_view text, const std::string& at);

const Item* find(const Table& table, std::string_view key);
/// "an integer", "a string", …
std::string_view kind_of(const Value& value);

/// Throws ScenarioError "at: what".
[[noreturn]] void refuse(const std::string& at, const std::string& what);
/// The content as a Table, an Array, a string, …; rejects any other at `at`: "KEY is a string; RIGHT".
template <class Content>
const Content& as(const Value& value, const std::string& at, std::string_view key, std::string_view right) {
  if (const auto* content = std::get_if<Content>(&value.content)) return *content;
  refuse(at, std::string(key).append(" is ").append(kind_of(value)).append("; ").append(right));
}
template <class Content>
const Content& as(const Value& value, std::string_view key, std::string_view right) {
  return as<Content>(value, value.at, key, right);
}
template <class Content>
const Content& as(const Item& item, std::string_view right) {
  return as<Content>(item.value, item.at, item.key, right);
}
/// Without leading and trailing blanks.
std::string trimmed(const std::string& text);

}  // namespace rankscope::document
