#include "telemetry/classroom/messages.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "telemetry/classroom/identity.hpp"

namespace rankscope::classroom {
namespace {

using nlohmann::json;

constexpr std::size_t longest_word = 120;  // names of labs, views and ops
constexpr std::size_t longest_reason = 400;
constexpr std::int64_t longest_ns = std::int64_t{1} << 53;  // whole numbers of every JSON reader

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

Look look_of(const json& from) {
  Look look;
  look.lab = word(from, "lab", longest_word);
  look.view = word(from, "view", longest_word);
  if (from.contains("step")) look.step = static_cast<std::uint32_t>(whole(from, "step", 0, 0xffffffffLL));
  look.begin_ns = whole(from, "begin_ns", -longest_ns, longest_ns);
  look.end_ns = whole(from, "end_ns", look.begin_ns, longest_ns);
  look.step_ns = whole(from, "step_ns", 0, longest_ns);
  look.rank = static_cast<std::int32_t>(whole(from, "rank", -1, 1 << 24));
  look.op = word(from, "op", longest_word);
  if (from.contains("ran")) look.ran = from.at("ran").get<bool>();
  return look;
}

Hello hello_of(const json& from) {
  Hello hello{word(from, "name", longest_name), {}, {}};
  if (!from.contains("key")) return hello;
  hello.key = word(from, "key", public_key_length);
  hello.proof = word(from, "proof", proof_length);
  return hello;
}

Answer answer_of(const json& from) {
  Answer answer;
  answer.lab = word(from, "lab", longest_word);
  answer.question = static_cast<int>(whole(from, "question", 0, most_questions - 1));
  answer.guess = from.at("guess").get<double>();
  if (!std::isfinite(answer.guess)) throw std::invalid_argument("the guess is not a number");
  return answer;
}

json json_of(const Look& look) {
  json object{{"kind", "look"},        {"lab", look.lab},         {"view", look.view}, {"begin_ns", look.begin_ns},
              {"end_ns", look.end_ns}, {"step_ns", look.step_ns}, {"rank", look.rank}, {"op", look.op}};
  if (look.step) object["step"] = *look.step;
  if (look.ran) object["ran"] = true;
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
json json_of(const Answer& answer) {
  return {{"kind", "answer"}, {"lab", answer.lab}, {"question", answer.question}, {"guess", answer.guess}};
}

}  // namespace

std::string to_text(const Message& message) {
  const json object = std::visit([](const auto& one) { return json_of(one); }, message);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<Message> parse(std::string_view text, std::string* why) {
  try {
    if (text.size() > longest_message)
      throw std::invalid_argument("a message of " + std::to_string(text.size()) + " bytes");
    const json object = json::parse(text);
    const std::string kind = object.at("kind").get<std::string>();
    if (kind == "look") return look_of(object);
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
