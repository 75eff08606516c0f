#include "engine/lesson/lab/attempt_text.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/op/not_known.hpp"
#include "engine/op/word_list.hpp"

namespace rankscope {
namespace {

using nlohmann::json;

json json_of(double number) { return std::isfinite(number) ? json(number) : json(nullptr); }
json json_of(const std::string& option) { return option; }
json json_of(const std::vector<std::string>& items) { return items; }
json json_of(const std::vector<double>& drawn) {
  json array = json::array();
  for (const double value : drawn) array.push_back(json_of(value));
  return array;
}
json json_of(const PointedOp& op) { return {{"rank", op.rank}, {"op", to_token(op.op)}}; }
json json_of(const PointedRank& rank) { return {{"rank", rank.rank}}; }
json json_of(const PointedLink& link) {
  if (!link.level.empty()) return {{"level", link.level}, {"unit", link.unit}};
  return {{"from", link.from}, {"to", link.to}};
}

/// nullopt unless it is a valid integer for a rank or a unit.
std::optional<int> index_of(const json& from, const char* key) {
  const auto found = from.find(key);
  if (found == from.end() || !found->is_number_integer()) return std::nullopt;
  const auto value = found->get<std::int64_t>();
  return value < 0 || value > (1 << 24) ? std::nullopt : std::optional<int>(static_cast<int>(value));
}

std::optional<Attempt> pointed_of(const json& from) {
  if (!from.is_object()) return std::nullopt;
  const auto text = [&](const char* key) { return from.contains(key) && from[key].is_string(); };
  if (text("level")) {
    const auto unit = index_of(from, "unit");
    return unit ? std::optional<Attempt>(PointedLink{from["level"].get<std::string>(), *unit, 0, 0}) : std::nullopt;
  }
  if (const auto rank = index_of(from, "rank")) {
    if (!from.contains("op")) return PointedRank{*rank};
    const auto op = text("op") ? parse_token(from["op"].get<std::string>()) : std::nullopt;
    return op ? std::optional<Attempt>(PointedOp{*rank, *op}) : std::nullopt;
  }
  const auto sender = index_of(from, "from"), receiver = index_of(from, "to");
  if (!sender || !receiver) return std::nullopt;
  return PointedLink{{}, 0, *sender, *receiver};
}

std::optional<Attempt> items_of(const json& from) {
  std::vector<std::string> items;
  if (!from.is_array() || from.empty()) return std::nullopt;
  for (const json& item : from) {
    if (!item.is_string()) return std::nullopt;
    items.push_back(item.get<std::string>());
  }
  return items;
}

std::optional<Attempt> drawn_of(const json& from) {
  std::vector<double> drawn;
  if (!from.is_array() || from.empty()) return std::nullopt;
  for (const json& value : from) {
    if (!value.is_number() && !value.is_null()) return std::nullopt;
    drawn.push_back(value.is_null() ? not_known : value.get<double>());
  }
  return drawn;
}

}  // namespace

std::string attempt_text(const Attempt& attempt) {
  const json value = std::visit([](const auto& one) { return json_of(one); }, attempt);
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<Attempt> parse_attempt(std::string_view text, QuestionKind kind) {
  const json from = json::parse(text, nullptr, false);
  switch (kind) {
    case QuestionKind::number: return from.is_number() ? std::optional<Attempt>(from.get<double>()) : std::nullopt;
    case QuestionKind::choice: return from.is_string() ? std::optional<Attempt>(from.get<std::string>()) : std::nullopt;
    case QuestionKind::order: return items_of(from);
    case QuestionKind::draw: return drawn_of(from);
    case QuestionKind::point: return pointed_of(from);
  }
  return std::nullopt;
}

QuestionKind kind_of(const Attempt& attempt) {
  constexpr QuestionKind by_index[] = {QuestionKind::number, QuestionKind::choice, QuestionKind::order,
                                       QuestionKind::draw,   QuestionKind::point,  QuestionKind::point,
                                       QuestionKind::point};
  static_assert(std::size(by_index) == std::variant_size_v<Attempt>);
  return by_index[attempt.index()];
}

std::optional<QuestionKind> question_kind_named(std::string_view name) {
  return value_named<QuestionKind>(name, question_kind_count);
}

}  // namespace rankscope
