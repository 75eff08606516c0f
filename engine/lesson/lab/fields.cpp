#include "engine/lesson/lab/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope {

using document::Array;
using document::Item;
using document::refuse;
using document::Table;

const Item* Fields::take(const std::string& key) {
  known_.push_back(key);
  return document::find(table_, key);
}

std::string Fields::text(const std::string& key, const std::string& owner_at, bool needed) {
  const Item* item = take(key);
  if (!item && needed) refuse(owner_at, fmt::format("the key '{}' is missing in {}; give a string", key, where_));
  return item ? document::as<std::string>(*item, "it takes a string") : std::string();
}

double Fields::number(const std::string& key, double otherwise) {
  const Item* item = take(key);
  if (!item) return otherwise;
  if (const auto* integer = std::get_if<std::int64_t>(&item->value.content)) return static_cast<double>(*integer);
  return document::as<double>(*item, "it takes a number");
}

bool Fields::flag(const std::string& key, bool otherwise) {
  const Item* item = take(key);
  return item ? document::as<bool>(*item, "it takes true or false") : otherwise;
}

std::vector<std::string> Fields::texts(const std::string& key) {
  const Item* item = take(key);
  if (!item) return {};
  std::vector<std::string> texts;
  for (const document::Value& entry : document::as<Array>(*item, "it takes a list of strings")) {
    const auto* text = std::get_if<std::string>(&entry.content);
    if (!text) refuse(entry.at, fmt::format("{} has {} in it; it takes a list of strings", key, kind_of(entry)));
    texts.push_back(*text);
  }
  return texts;
}

std::vector<std::pair<const Table*, std::string>> Fields::tables(const std::string& key) {
  const Item* item = take(key);
  if (!item) return {};
  std::vector<std::pair<const Table*, std::string>> tables;
  for (const document::Value& entry : document::as<Array>(*item, "it takes a list of tables")) {
    const auto* table = std::get_if<Table>(&entry.content);
    if (!table) refuse(entry.at, fmt::format("{} has {} in it; it takes a list of tables", key, kind_of(entry)));
    tables.emplace_back(table, entry.at);
  }
  return tables;
}

const Table* Fields::table(const std::string& key, std::string_view example) {
  const Item* item = take(key);
  return item ? &document::as<Table>(*item, fmt::format("write it as {}", example)) : nullptr;
}

void Fields::refuse_others() const {
  for (const Item& item : table_) {
    if (contains(known_, item.key)) continue;
    refuse(item.at, fmt::format("unknown key '{}' in {}; {}", item.key, where_,
                                nearest_or(item.key, known_, where_ + " has " + listed(known_))));
  }
}

}  // namespace rankscope
