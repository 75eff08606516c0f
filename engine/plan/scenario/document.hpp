// A TOML file as plain values with positions. Internal to the room: the only place that knows the TOML library.
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
struct OtherKind {};  ///< a date or a time: no key takes one

struct Value {
  std::string at;  ///< where it stands: "file:line:column", or "--set key=value"
  std::variant<bool, std::int64_t, double, std::string, Array, Table, OtherKind> content;
};

struct Item {
  std::string key;
  std::string at;  ///< of the key
  Value value;
};

/// Parses; throws ScenarioError "name:line:column: …; …" for what is not TOML.
Table parse(std::string_view text, const std::string& name);
/// Reads and parses a file; throws ScenarioError when it cannot be read, or is larger than a scenario ever is.
Table parse_file(const std::string& path);
/// A single value as it may stand after "=": TOML, except that text without quotes is a string. `at` is its position.
Value parse_value(std::string_view text, const std::string& at);

const Item* find(const Table& table, std::string_view key);
/// "an integer", "a string", …
std::string_view kind_of(const Value& value);

/// Throws ScenarioError "at: what".
[[noreturn]] void refuse(const std::string& at, const std::string& what);
/// Without the blanks around it.
std::string trimmed(const std::string& text);

}  // namespace rankscope::document
