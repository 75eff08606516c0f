// The text form, one line per item; a name is the rest of its line:
//
//   rankscope-facts 1
//   rank 2
//   lane 16 stream 7
//   group 0 ranks 0,1,2,3 default_pg
//   name 4 - aten::addmm
//   name 5 0 all_reduce                 of group 0
#include "engine/step/facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

constexpr std::string_view header = "rankscope-facts 1";

/// A line's words from left to right; what is left is a name.
class Words {
 public:
  Words(std::string_view line, int number) : rest_(line), line_(number) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument(fmt::format("line {}: {}", line_, why));
  }
  bool takes(std::string_view word) {
    if (!rest_.starts_with(word) || (rest_.size() > word.size() && rest_[word.size()] != ' ')) return false;
    rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
    return true;
  }
  std::string_view word() {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
    return word;
  }
  int number(std::string_view what, int least, int most) { return number_in_text(word(), what, least, most); }
  std::vector<int> numbers(std::string_view what) {
    std::vector<int> all;
    for (std::string_view list = word(); !list.empty();) {
      const std::string_view one = list.substr(0, list.find(','));
      all.push_back(number_in_text(one, what, 0, 1 << 24));
      list.remove_prefix(std::min(list.size(), one.size() + 1));
    }
    return all;
  }
  std::string rest() const { return std::string(rest_); }

 private:
  int number_in_text(std::string_view text, std::string_view what, int least, int most) const {
    const auto value = number_in<int>(text);
    if (!value || *value < least || *value > most)
      fail(fmt::format("'{}' is not {} from {} to {}", text, what, least, most));
    return *value;
  }

  std::string_view rest_;
  int line_;
};

/// Line breaks would end the item.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

const StepFacts::Name* StepFacts::name_of(OpId op) const {
  if (!op.is_observed()) return nullptr;
  const auto found = names.find(op.observed().name);
  return found == names.end() ? nullptr : &found->second;
}

const StepFacts::Group* StepFacts::group_of(OpId op) const {
  const Name* name = name_of(op);
  if (name == nullptr) return nullptr;
  const auto found = groups.find(name->group);
  return found == groups.end() ? nullptr : &found->second;
}

bool is_facts(std::string_view text) { return text.starts_with("rankscope-facts "); }

std::string to_text(const StepFacts& facts) {
  std::string text = fmt::format("{}\nrank {}\n", header, facts.rank);
  for (const auto& [lane, name] : facts.lanes)
    text += fmt::format("lane {} {}\n", static_cast<int>(lane), on_one_line(name));
  for (const auto& [number, group] : facts.groups)
    text += fmt::format("group {} ranks {} {}\n", number, fmt::join(group.ranks, ","), on_one_line(group.name));
  for (const auto& [number, name] : facts.names)
    text += fmt::format("name {} {} {}\n", number, name.group < 0 ? "-" : fmt::to_string(name.group),
                        on_one_line(name.text));
  return text;
}

StepFacts parse_facts(const std::string& text) {
  StepFacts facts;
  int number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    Words words(line, ++number);
    constexpr int most = (1 << 20) - 1;
    if (number == 1) {
      if (line != header) words.fail(fmt::format("facts begin with '{}'", header));
    } else if (words.takes("rank")) {
      facts.rank = words.number("a rank", 0, 1 << 24);
    } else if (words.takes("lane")) {
      const int lane = words.number("a lane", first_observed_lane, lane_slots - 1);
      facts.lanes[static_cast<Lane>(lane)] = words.rest();
    } else if (words.takes("group")) {
      const int group = words.number("a group", 0, most);
      if (!words.takes("ranks")) words.fail("a group has ranks");
      facts.groups[group].ranks = words.numbers("a rank");
      facts.groups[group].name = words.rest();
    } else if (words.takes("name")) {
      StepFacts::Name& name = facts.names[words.number("a name", 0, most)];
      if (!words.takes("-")) name.group = words.number("a group", 0, most);
      name.text = words.rest();
    } else if (!line.empty()) {
      words.fail(fmt::format("'{}' is no item of facts", words.word()));
    }
  }
  if (number == 0) throw std::invalid_argument("line 1: there is no text");
  return facts;
}

}  // namespace rankscope
