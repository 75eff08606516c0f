// The keys of one table of a lesson's file: each is read once, and unknown keys are refused. For this room's own
// readers. Everything throws ScenarioError with the position.
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
  /// Empty where it is missing; refused at `owner_at` where it is needed.
  std::string text(const std::string& key, const std::string& owner_at, bool needed);
  double number(const std::string& key, double otherwise);
  bool flag(const std::string& key, bool otherwise);
  std::vector<std::string> texts(const std::string& key);
  /// The tables of a list: of "[[lab.questions]]", or written in one line. Empty where it is missing.
  std::vector<std::pair<const document::Table*, std::string>> tables(const std::string& key);
  /// A table in one line, such as { view = "memory" }; null where it is missing.
  const document::Table* table(const std::string& key, std::string_view example);
  /// Where a key is; for complaints about its value.
  std::string at(const std::string& key) const { return document::find(table_, key)->at; }
  bool has(const std::string& key) const { return document::find(table_, key) != nullptr; }
  void refuse_others() const;

 private:
  const document::Table& table_;
  std::string where_;
  std::vector<std::string> known_;
};

}  // namespace rankscope
