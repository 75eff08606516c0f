#include "engine/plan/scenario/document.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/plan/scenario/read.hpp"

namespace rankscope::document {
namespace {

constexpr std::uintmax_t largest_file = 4 << 20;

std::string position(const std::string& name, const toml::source_position& at) {
  return fmt::format("{}:{}:{}", name, at.line, at.column);
}

Value convert(const toml::node& node, const std::string& name);

Table convert(const toml::table& table, const std::string& name) {
  // The library iterates by key; messages should report the first error of the file.
  std::vector<std::pair<toml::source_position, Item>> placed;
  for (auto&& [key, node] : table)
    placed.push_back(
        {key.source().begin, {std::string(key.str()), position(name, key.source().begin), convert(node, name)}});
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Table items;
  for (auto& [at, item] : placed) items.push_back(std::move(item));
  return items;
}

Value convert(const toml::node& node, const std::string& name) {
  Value value;
  value.at = position(name, node.source().begin);
  if (const auto* b = node.as_boolean()) {
    value.content = b->get();
  } else if (const auto* i = node.as_integer()) {
    value.content = i->get();
  } else if (const auto* d = node.as_floating_point()) {
    value.content = d->get();
  } else if (const auto* s = node.as_string()) {
    value.content = s->get();
  } else if (const auto* array = node.as_array()) {
    Array values;
    for (const toml::node& element : *array) values.push_back(convert(element, name));
    value.content = std::move(values);
  } else if (const auto* table = node.as_table()) {
    value.content = convert(*table, name);
  } else {
    value.content = OtherKind{};
  }
  return value;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

Table parse(std::string_view text, const std::string& name) {
  try {
    return convert(toml::parse(text), name);
  } catch (const toml::parse_error& error) {
    throw ScenarioError(position(name, error.source().begin) + ": " + one_line(error.description()) +
                        "; a scenario is TOML: [table] lines, each followed by lines `key = value`");
  }
}

Table parse_file(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw ScenarioError(path + ":1:1: cannot read the file: " + why + "; give the path of a scenario file (TOML)");
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse("no such file");
  if (std::filesystem::is_directory(status)) refuse("it is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(std::strerror(errno));
  std::string text(largest_file + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) refuse(std::strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > largest_file) refuse("it is larger than 4 MiB");
  return parse(text, path);
}

Value parse_value(std::string_view text, const std::string& at) {
  Value value;
  try {
    value = convert(*toml::parse("value = " + std::string(text)).get("value"), at);
  } catch (const toml::parse_error&) {
    value.content = std::string(text);
  }
  value.at = at;
  return value;
}

const Item* find(const Table& table, std::string_view key) {
  for (const Item& item : table)
    if (item.key == key) return &item;
  return nullptr;
}

std::string_view kind_of(const Value& value) {
  constexpr std::string_view kinds[] = {
      "a boolean", "an integer", "a number with a fraction", "a string", "an array", "a table", "a date or time"};
  static_assert(std::size(kinds) == std::variant_size_v<decltype(value.content)>);
  return kinds[value.content.index()];
}

void refuse(const std::string& at, const std::string& what) { throw ScenarioError(at + ": " + what); }

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

}  // namespace rankscope::document
