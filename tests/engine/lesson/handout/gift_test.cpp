// Reads the quiz back with a small parser of GIFT (docs.moodle.org, "GIFT format").
#include "engine/lesson/handout/gift.hpp"

#include "tests/engine/lesson/handout/sample_lab.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

struct Answer {
  char mark = 0;  ///< '=' or '~'
  double worth = 100;
  std::string text, feedback;
};
struct Asked {
  std::string name, text, general;
  bool numerical = false;
  std::vector<Answer> answers;
};

/// Reads text up to an unescaped character of `ends` and removes the backslashes. `at` is then at that character.
std::string taken(const std::string& text, std::size_t& at, std::string_view ends) {
  std::string result;
  for (; at < text.size() && ends.find(text[at]) == std::string_view::npos; ++at) {
    if (text[at] == '\\') ++at;
    result += text.at(at);
  }
  while (!result.empty() && std::isspace(static_cast<unsigned char>(result.back()))) result.pop_back();
  const std::size_t first = result.find_first_not_of(" \t\n");
  return first == std::string::npos ? "" : result.substr(first);
}

struct ParsedQuiz {
  std::vector<std::string> categories, comments;
  std::vector<Asked> questions;
};

ParsedQuiz parse_gift(const std::string& text) {
  ParsedQuiz quiz;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \t\n", at)) < text.size();) {
    if (text.compare(at, 2, "//") == 0) {
      quiz.comments.push_back(taken(text, at, "\n"));
    } else if (text.compare(at, 10, "$CATEGORY:") == 0) {
      at += 10;
      quiz.categories.push_back(taken(text, at, "\n"));
    } else {
      Asked asked;
      REQUIRE(text.compare(at, 2, "::") == 0);
      at += 2;
      asked.name = taken(text, at, ":");
      REQUIRE(text.compare(at, 2, "::") == 0);
      at += 2;
      asked.text = taken(text, at, "{");
      REQUIRE(text.at(at) == '{');
      ++at;
      if (text.at(at) == '#') asked.numerical = true, ++at;
      while (true) {
        const std::string nothing = taken(text, at, "=~#}");
        REQUIRE(nothing.empty());
        const char mark = text.at(at);
        if (mark == '}') break;
        if (mark == '#') {
          REQUIRE(text.compare(at, 4, "####") == 0);
          at += 4;
          asked.general = taken(text, at, "}");
          continue;
        }
        Answer answer;
        answer.mark = mark;
        ++at;
        if (text.at(at) == '%') {
          const std::size_t end = text.find('%', at + 1);
          answer.worth = std::stod(text.substr(at + 1, end - at - 1));
          at = end + 1;
        }
        // A colon between a value and its tolerance is also a mark, and is not escaped.
        answer.text = taken(text, at, "=~#}");
        if (text.at(at) == '#' && text.compare(at, 4, "####") != 0) {
          ++at;
          answer.feedback = taken(text, at, "=~#}");
        }
        asked.answers.push_back(answer);
      }
      ++at;
      quiz.questions.push_back(asked);
    }
  }
  return quiz;
}

}  // namespace

TEST_CASE("the quiz has every question that it can ask, and counts the others in a line") {
  const Quiz made = gift(sample_handout(false));
  INFO(made.text);
  const ParsedQuiz quiz = parse_gift(made.text);
  CHECK(made.asked == 4);
  REQUIRE(quiz.questions.size() == 4);
  REQUIRE(made.left_out.size() == 3);
  CHECK(made.left_out[0] == "slots 5, a drawing");
  CHECK(made.left_out[1] == "slots 6, a click on an op");
  CHECK(made.left_out[2] == "slots 7, which needs a run");
  CHECK(quiz.comments.back().find("Omitted: 3 (slots 5") != std::string::npos);
  REQUIRE(quiz.categories.size() == 1);
  CHECK(quiz.categories[0] == "Rankscope/Slots - of a pipeline");  // a slash would start another category
}

TEST_CASE("a number of the quiz has its value, its tolerance, its mistakes and its reason") {
  const Asked number = parse_gift(gift(sample_handout(false)).text).questions.at(0);
  CHECK(number.name == "slots 1");
  CHECK(number.text == "[markdown]What share of the step is bubble: {p = 4}? (in percent)");
  CHECK(number.numerical);
  REQUIRE(number.answers.size() == 2);
  CHECK(number.answers[0].worth == 100);
  const auto [value, tolerance] = [&] {
    const std::string& text = number.answers[0].text;
    const std::size_t colon = text.find(':');
    return std::pair(std::stod(text.substr(0, colon)), std::stod(text.substr(colon + 1)));
  }();
  CHECK(value == Approx(100 * 3.0 / 11));
  CHECK(tolerance == 4);
  CHECK(number.answers[1].worth == 0);
  CHECK(std::stod(number.answers[1].text) == 37.5);
  CHECK(number.answers[1].feedback == "That is of the useful time.");
  CHECK(number.general == "3/11 = 27.3%.");
}

TEST_CASE("a choice of the quiz has one right option, and the reason of each wrong one") {
  const Asked choice = parse_gift(gift(sample_handout(false)).text).questions.at(1);
  REQUIRE(choice.answers.size() == 2);
  CHECK(choice.answers[0].mark == '~');
  CHECK(choice.answers[0].text == "the last");
  CHECK(choice.answers[0].feedback == "It frees at once.");
  CHECK(choice.answers[1].mark == '=');
  CHECK(choice.answers[1].text == "the first");
}

TEST_CASE("an order of the quiz matches positions with items, and an order of two is a choice") {
  const auto questions = parse_gift(gift(sample_handout(false)).text).questions;
  const Asked order = questions.at(2), pair = questions.at(3);
  REQUIRE(order.answers.size() == 3);
  CHECK(order.answers[0].text == "1. -> forward");
  CHECK(order.answers[2].text == "3. -> update");
  REQUIRE(pair.answers.size() == 2);
  for (const Answer& answer : pair.answers) CHECK((answer.mark == '=') == (answer.text == "warm-up, then cool-down"));
}
