// The keys of one table of a lesson's file: each is read once, and unknown keys are errors. For this folder's readers
// only. Everything throws ScenarioError with the position.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/scenario/document.hpp"

namespace rankscope {

class Fields {
 public:
  /// `where`: how messages name the table: "[[lab.questions]]".
  Fields(const document::Table& table, std::string where) : table_(table), where_(std::move(where)) {}

  const document::Item* take(const std::string& key);
  /// Empty if it is missing; an error at `owner_at` if it is needed.
  std::string text(const std::string& key, const std::string& owner_at, bool needed);
  double number(const std::string& key, double otherwise);
  bool flag(const std::string& key, bool otherwise);
  std::vector<std::string> texts(const std::string& key);
  /// The tables of a list: of "[[lab.questions]]", or an inline list. Empty if it is missing.
  std::vector<std::pair<const document::Table*, std::string>> tables(const std::string& key);
  /// An inline table, such as { view = "memory" }; null if it is missing.
  const document::Table* table(const std::string& key, std::string_view example);
  /// The position of a key; for errors in its value.
  std::string at(const std::string& key) const { return document::find(table_, key)->at; }
  bool has(const std::string& key) const { return document::find(table_, key) != nullptr; }
  void refuse_others() const;

 private:
  const document::Table& table_;
  std::string where_;
  std::vector<std::string> known_;
};

}  // namespace rankscope
