#include "engine/lesson/lab/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

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
  if (!item) return {};
  const auto* value = std::get_if<std::string>(&item->value.content);
  if (!value) refuse(item->at, fmt::format("{} is {}; it takes a string", key, kind_of(item->value)));
  return *value;
}

double Fields::number(const std::string& key, double otherwise) {
  const Item* item = take(key);
  if (!item) return otherwise;
  if (const auto* integer = std::get_if<std::int64_t>(&item->value.content)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&item->value.content)) return *real;
  refuse(item->at, fmt::format("{} is {}; it takes a number", key, kind_of(item->value)));
}

bool Fields::flag(const std::string& key, bool otherwise) {
  const Item* item = take(key);
  if (!item) return otherwise;
  const auto* value = std::get_if<bool>(&item->value.content);
  if (!value) refuse(item->at, fmt::format("{} is {}; it takes true or false", key, kind_of(item->value)));
  return *value;
}

std::vector<std::string> Fields::texts(const std::string& key) {
  const Item* item = take(key);
  if (!item) return {};
  std::vector<std::string> texts;
  const auto* list = std::get_if<Array>(&item->value.content);
  if (!list) refuse(item->at, fmt::format("{} is {}; it takes a list of strings", key, kind_of(item->value)));
  for (const document::Value& entry : *list) {
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
  const auto* list = std::get_if<Array>(&item->value.content);
  if (!list) refuse(item->at, fmt::format("{} is {}; it takes a list of tables", key, kind_of(item->value)));
  for (const document::Value& entry : *list) {
    const auto* table = std::get_if<Table>(&entry.content);
    if (!table) refuse(entry.at, fmt::format("{} has {} in it; it takes a list of tables", key, kind_of(entry)));
    tables.emplace_back(table, entry.at);
  }
  return tables;
}

const Table* Fields::table(const std::string& key, std::string_view example) {
  const Item* item = take(key);
  if (!item) return nullptr;
  const auto* table = std::get_if<Table>(&item->value.content);
  if (!table) refuse(item->at, fmt::format("{} is {}; write it as {}", key, kind_of(item->value), example));
  return table;
}

void Fields::refuse_others() const {
  for (const Item& item : table_) {
    if (std::find(known_.begin(), known_.end(), item.key) != known_.end()) continue;
    const std::string near = nearest(item.key, known_);
    refuse(item.at, fmt::format("unknown key '{}' in {}; {}", item.key, where_,
                                near.empty() ? where_ + " has " + listed(known_) : "did you mean '" + near + "'?"));
  }
}

}  // namespace rankscope
