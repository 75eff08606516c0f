#include "engine/lesson/lab/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/op/contains.hpp"
#include "engine/op/word_list.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

template <class Value>
bool agrees(const std::optional<Value>& expected, Value value) {
  return !expected || *expected == value;
}

/// A fixed order of strings that does not depend on their meaning (FNV-1a).
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ull;
  return hash;
}

}  // namespace

constexpr auto question_kind_names = word_list("number", "choice", "order", "draw", "point");
static_assert(question_kind_names.size() == question_kind_count);
std::string_view name_of(QuestionKind kind) { return word_at(question_kind_names, kind); }

constexpr auto point_at_names = word_list("op", "rank", "link");
static_assert(point_at_names.size() == static_cast<int>(PointAt::link) + 1);
std::string_view name_of(PointAt at) { return word_at(point_at_names, at); }

bool RankPattern::matches(const PointedRank& pointed) const { return contains(ranks, pointed.rank); }

std::string words_of(const RankPattern& pattern) { return "rank " + listed(pattern.ranks, "or"); }

bool LinkPattern::matches(const PointedLink& pointed) const {
  return level == pointed.level && agrees(unit, pointed.unit) && agrees(from, pointed.from) && agrees(to, pointed.to);
}

std::string words_of(const LinkPattern& pattern) {
  if (!pattern.level.empty())
    return pattern.unit ? fmt::format("the uplink of {} {}", pattern.level, *pattern.unit)
                        : fmt::format("the uplink of any {}", pattern.level);
  std::string words = "the link";
  if (pattern.from) words += fmt::format(" from rank {}", *pattern.from);
  if (pattern.to) words += fmt::format(" to rank {}", *pattern.to);
  return words;
}

bool OpPattern::matches(const PointedOp& pointed) const {
  const OpFields fields = pointed.op.fields();
  return agrees(rank, pointed.rank) && agrees(chunk, fields.chunk) && agrees(micro_batch, fields.micro_batch) &&
         agrees(kind, fields.kind) && agrees(purpose, fields.purpose);
}

std::string words_of(const OpPattern& pattern) {
  std::string words = pattern.kind ? std::string(name_of(*pattern.kind)) : "an op";
  if (pattern.purpose) words += fmt::format(" ({})", name_of(*pattern.purpose));
  if (pattern.micro_batch) words += fmt::format(" of micro-batch {}", *pattern.micro_batch);
  if (pattern.chunk) words += fmt::format(" of chunk {}", *pattern.chunk);
  if (pattern.rank) words += fmt::format(" on rank {}", *pattern.rank);
  return words;
}

std::optional<Target> known_answer(const Question& question) {
  if (question.answer) return question.answer;
  if (question.formula_value) return Target(*question.formula_value);
  return std::nullopt;
}

bool fits(const Question& question, const Attempt& attempt) {
  switch (question.kind) {
    case QuestionKind::number: return std::holds_alternative<double>(attempt);
    case QuestionKind::choice: return std::holds_alternative<std::string>(attempt);
    case QuestionKind::order: return std::holds_alternative<std::vector<std::string>>(attempt);
    case QuestionKind::draw: return std::holds_alternative<std::vector<double>>(attempt);
    case QuestionKind::point: break;
  }
  switch (question.at) {
    case PointAt::op: return std::holds_alternative<PointedOp>(attempt);
    case PointAt::rank: return std::holds_alternative<PointedRank>(attempt);
    case PointAt::link: return std::holds_alternative<PointedLink>(attempt);
  }
  return false;
}

std::vector<std::string> shuffled(const Question& question) {
  std::vector<std::string> items = question.options;
  std::ranges::sort(items, [](const std::string& a, const std::string& b) { return hash_of(a) < hash_of(b); });
  if (items == question.options && items.size() > 1) std::rotate(items.begin(), items.begin() + 1, items.end());
  return items;
}

}  // namespace rankscope
