#include "tests/whole/plans/advice.hpp"

#include <cstdlib>
#include <regex>

#include "engine/plan/scenario/keys.hpp"

namespace rankscope::test {
namespace {

/// "plan.zero" of "zero" or of itself; the refusal's own table first, because names are not unique.
std::string path_of(const std::string& name, const std::string& beside) {
  if (find_key(name) != nullptr) return name;
  for (const std::string& table :
       {beside.substr(0, beside.find('.')), std::string("plan"), std::string("model"), std::string("train"),
        std::string("data"), std::string("cluster"), std::string("software"), std::string("fault")})
    if (find_key(table + "." + name) != nullptr) return table + "." + name;
  return {};
}

bool is_word_key(const std::string& path) {
  Scenario scenario;
  const Key* key = find_key(path);
  if (key == nullptr) return false;
  const Field field = key->field(scenario);
  return std::holds_alternative<std::string*>(field) || std::holds_alternative<AnyChoice*>(field);
}

std::string as_toml(const std::string& path, const std::string& value) {
  return is_word_key(path) && !value.starts_with('"') ? "\"" + value + "\"" : value;
}

/// The number next to a bound, in the direction in which it is allowed.
std::string beside(const std::string& bound, bool excluded, int direction) {
  const double value = std::strtod(bound.c_str(), nullptr);
  if (!excluded) return bound;
  return plain(value == static_cast<double>(static_cast<long long>(value)) && bound.find('.') == std::string::npos
                   ? value + direction * 0.5
                   : value * (1 + direction * 0.5));
}

std::vector<std::string> words_listed(const std::string& text) {
  std::vector<std::string> words;
  const std::regex word(R"(\s*("?[\w.:-]+"?)(,| and|$)?)");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) words.push_back((*at)[1]);
  return words;
}

/// name = value, name = value or value, "and" between changes that belong together.
void add_settings(const Refusal& refusal, const std::string& text, std::vector<Advice>& advice) {
  const std::regex setting(
      R"re((and (?:give )?)?\b([a-z][a-z0-9_.]*) = ("[^"]*"|[-+0-9.e]*[0-9]|true|false)(( or ("[^"]*"|[-+0-9.e]*[0-9]))*))re");
  const std::regex other(R"re( or ("[^"]*"|[-+0-9.e]*[0-9]))re");
  for (std::sregex_iterator at(text.begin(), text.end(), setting), end; at != end; ++at) {
    const std::string path = path_of((*at)[2], refusal.key);
    if (path.empty()) continue;
    const Change first{path, as_toml(path, (*at)[3])};
    if ((*at)[1].matched && !advice.empty()) {
      advice.back().push_back(first);
      continue;
    }
    advice.push_back({first});
    const std::string more = (*at)[4];
    for (std::sregex_iterator o(more.begin(), more.end(), other); o != end; ++o)
      advice.push_back({{path, as_toml(path, (*o)[1])}});
  }
}

}  // namespace

std::optional<Refusal> read_refusal(const std::string& text, const std::string& file, const DrawnPlan& plan) {
  if (!text.starts_with(file + ":") || text.find('\n') != text.size() - 1) return std::nullopt;
  static const std::regex form(R"(^:(\d+):(\d+): ([^\n]+)\n$)");
  const std::string rest = text.substr(file.size());
  std::smatch found;
  if (!std::regex_match(rest, found, form)) return std::nullopt;
  Refusal refusal;
  refusal.line = std::stoi(found[1]);
  refusal.what = found[3];
  refusal.key = plan.key_in_line(refusal.line);
  return refusal;
}

std::vector<Advice> advice_in(const Refusal& refusal) {
  std::vector<Advice> advice;
  // The error is first and may contain a semicolon; values in quotes may, too.
  const std::string& text = refusal.what;
  std::smatch found;
  const auto semicolon = text.find("; ");
  const std::string right = semicolon == std::string::npos ? text : text.substr(semicolon + 2);
  if (std::regex_search(right, found,
                        std::regex(R"(must be (at least|greater than) (\S+)( and (at most|less than) (\S+))?$)")))
    advice.push_back({{refusal.key, beside(found[2], found[1] == "greater than", +1), true}});
  if (std::regex_search(right, found, std::regex(R"(\bremove (\w+))")))
    advice.push_back({{path_of(found[1], refusal.key), ""}});
  if (std::regex_search(right, found, std::regex(R"(choose an optimizer that has it: (.*)$)")))
    for (const std::string& word : words_listed(found[1]))
      advice.push_back({{"train.optimizer", as_toml("train.optimizer", word)}});
  if (text.starts_with("unknown "))
    if (std::regex_search(right, found, std::regex(R"((there is|known:|it is) (.*)$)")))
      for (const std::string& word : words_listed(found[2]))
        if (word.find("FILE") == std::string::npos && word != "or" && word != "by-hand")  // this value needs an order
          advice.push_back({{refusal.key, as_toml(refusal.key, word), true}});
  const std::size_t before = advice.size();
  add_settings(refusal, right, advice);
  if (right.starts_with("it takes "))  // then an example of the type
    for (std::size_t i = before; i < advice.size(); ++i)
      for (Change& change : advice[i]) change.of_list = true;
  if (std::regex_search(right, found, std::regex(R"((\w+) at most (\d+))")))
    if (const std::string path = path_of(found[1], refusal.key); !path.empty())
      advice.push_back({Change{path, found[2].str()}});
  return advice;
}

std::string to_text(const Advice& advice) {
  std::string text;
  for (const Change& change : advice)
    text += (text.empty() ? "" : " and ") + change.path + (change.value.empty() ? " removed" : " = " + change.value);
  return text;
}

}  // namespace rankscope::test
