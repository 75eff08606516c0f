#include "telemetry/classroom/messages.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/lesson/lab/attempt_text.hpp"
#include "engine/op/words.hpp"
#include "telemetry/classroom/identity.hpp"

namespace rankscope::classroom {
namespace {

using nlohmann::json;

constexpr std::size_t longest_word = 120;  // names of labs, views and ops
constexpr std::size_t longest_reason = 400;
constexpr std::int64_t longest_ns = std::int64_t{1} << 53;  // integers that every JSON reader represents exactly

std::string word(const json& from, const char* key, std::size_t longest) {
  const std::string text = from.at(key).get<std::string>();
  if (text.size() > longest) throw std::invalid_argument(std::string(key) + " is too long");
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20)
      throw std::invalid_argument(std::string(key) + " has a control character");
  return text;
}

std::int64_t whole(const json& from, const char* key, std::int64_t least, std::int64_t greatest) {
  const json& value = from.at(key);
  if (!value.is_number_integer()) throw std::invalid_argument(std::string(key) + " is no whole number");
  const auto number = value.get<std::int64_t>();
  if (number < least || number > greatest) throw std::invalid_argument(std::string(key) + " is out of range");
  return number;
}

SharedView shared_view_of(const json& from) {
  SharedView shared;
  shared.lab = word(from, "lab", longest_word);
  shared.view = word(from, "view", longest_word);
  if (from.contains("step")) shared.step = static_cast<std::uint32_t>(whole(from, "step", 0, 0xffffffffLL));
  shared.begin_ns = whole(from, "begin_ns", -longest_ns, longest_ns);
  shared.end_ns = whole(from, "end_ns", shared.begin_ns, longest_ns);
  shared.step_ns = whole(from, "step_ns", 0, longest_ns);
  shared.rank = static_cast<std::int32_t>(whole(from, "rank", -1, 1 << 24));
  shared.op = word(from, "op", longest_word);
  if (from.contains("ran")) shared.ran = from.at("ran").get<bool>();
  return shared;
}

Hello hello_of(const json& from) {
  Hello hello{word(from, "name", longest_name), {}, {}};
  if (!from.contains("key")) return hello;
  hello.key = word(from, "key", public_key_length);
  hello.proof = word(from, "proof", proof_length);
  return hello;
}

void check_item(const std::string& item) {
  if (item.size() > longest_item) throw std::invalid_argument("an answer has words that are too long");
  for (const char c : item)
    if (static_cast<unsigned char>(c) < 0x20) throw std::invalid_argument("an answer has a control character");
}

void check_number(double number) {
  if (!std::isfinite(number)) throw std::invalid_argument("an answer has something in it that is no number");
}

void check_attempt(const Attempt& attempt) {
  if (const auto* number = std::get_if<double>(&attempt)) check_number(*number);
  if (const auto* option = std::get_if<std::string>(&attempt)) check_item(*option);
  if (const auto* items = std::get_if<std::vector<std::string>>(&attempt)) {
    if (items->size() > most_items) throw std::invalid_argument("an order has too many items");
    for (const std::string& item : *items) check_item(item);
  }
  if (const auto* drawn = std::get_if<std::vector<double>>(&attempt)) {
    if (drawn->size() > most_points) throw std::invalid_argument("a drawing has too many points");
    for (const double value : *drawn) check_number(value);
  }
  if (const auto* link = std::get_if<PointedLink>(&attempt)) check_item(link->level);
}

/// "2026-11-24T09:30:00Z", nothing else.
bool is_time(const std::string& text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i)
    if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return false;
  const auto part = [&](std::size_t at) { return (text[at] - '0') * 10 + text[at + 1] - '0'; };
  return part(5) >= 1 && part(5) <= 12 && part(8) >= 1 && part(8) <= 31 && part(11) < 24 && part(14) < 60 &&
         part(17) <= 60;
}

Verdict verdict_of(const std::string& named) {
  for (const Verdict verdict : {Verdict::open, Verdict::right, Verdict::wrong})
    if (name_of(verdict) == named) return verdict;
  throw std::invalid_argument("there is no such verdict");
}

Answer answer_of(const json& from) {
  Answer answer;
  answer.lab = word(from, "lab", longest_word);
  answer.question = static_cast<int>(whole(from, "question", 0, most_questions - 1));
  if (!from.contains("question_kind")) {  // from an older window
    answer.attempt = from.at("guess").get<double>();
    check_attempt(answer.attempt);
    return answer;
  }
  const auto kind = question_kind_named(word(from, "question_kind", longest_word));
  if (!kind) throw std::invalid_argument("there is no such kind of question");
  auto attempt = parse_attempt(from.at("answer").dump(), *kind);
  if (!attempt) throw std::invalid_argument("the answer is none to a question of its kind");
  check_attempt(*attempt);
  answer.attempt = std::move(*attempt);
  answer.number = static_cast<int>(whole(from, "try", 1, most_try));
  answer.verdict = verdict_of(word(from, "verdict", longest_word));
  answer.at = word(from, "at", longest_word);
  if (!is_time(answer.at)) throw std::invalid_argument("at is no time such as 2026-11-24T09:30:00Z");
  return answer;
}

json json_of(const SharedView& shared) {
  json object{
      {"kind", "look"},          {"lab", shared.lab},         {"view", shared.view}, {"begin_ns", shared.begin_ns},
      {"end_ns", shared.end_ns}, {"step_ns", shared.step_ns}, {"rank", shared.rank}, {"op", shared.op}};
  if (shared.step) object["step"] = *shared.step;
  if (shared.ran) object["ran"] = true;
  return object;
}
json json_of(const Hello& hello) {
  json object{{"kind", "hello"}, {"name", hello.name}};
  if (!hello.key.empty()) object.update({{"key", hello.key}, {"proof", hello.proof}});
  return object;
}
json json_of(const Challenge& challenge) { return {{"kind", "challenge"}, {"challenge", challenge.challenge}}; }
json json_of(const Welcome&) { return {{"kind", "welcome"}}; }
json json_of(const Refused& refused) { return {{"kind", "refused"}, {"why", refused.why}}; }

/// A drawing's digits after the seventh are insignificant, and would double the size of the message.
double rounded(double value) { return number_in<double>(fmt::format("{:.7g}", value)).value_or(value); }

json json_of(const Answer& answer) {
  Attempt attempt = answer.attempt;
  if (auto* drawn = std::get_if<std::vector<double>>(&attempt))
    for (double& value : *drawn) value = rounded(value);
  json object{{"kind", "answer"},
              {"lab", answer.lab},
              {"question", answer.question},
              {"question_kind", name_of(kind_of(attempt))},
              {"answer", json::parse(attempt_text(attempt))},
              {"try", answer.number},
              {"verdict", name_of(answer.verdict)},
              {"at", answer.at}};
  if (const auto* number = std::get_if<double>(&attempt)) object["guess"] = *number;
  return object;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::open: return "open";
    case Verdict::right: return "right";
    case Verdict::wrong: return "wrong";
  }
  return "";
}

std::string why_not_sendable(const Answer& answer) {
  std::string why;
  parse(to_text(answer), &why);
  return why;
}

std::string to_text(const Message& message) {
  const json object = std::visit([](const auto& one) { return json_of(one); }, message);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<Message> parse(std::string_view text, std::string* why) {
  try {
    if (text.size() > longest_message)
      throw std::invalid_argument(fmt::format("a message of {}", counted(text.size(), "byte")));
    const json object = json::parse(text);
    const std::string kind = object.at("kind").get<std::string>();
    if (kind == "look") return shared_view_of(object);
    if (kind == "hello") return hello_of(object);
    if (kind == "challenge") return Challenge{word(object, "challenge", challenge_length)};
    if (kind == "welcome") return Welcome{};
    if (kind == "refused") return Refused{word(object, "why", longest_reason)};
    if (kind == "answer") return answer_of(object);
    throw std::invalid_argument("a message of unknown kind");
  } catch (const std::exception& error) {
    if (why != nullptr) *why = error.what();
    return std::nullopt;
  }
}

}  // namespace rankscope::classroom
