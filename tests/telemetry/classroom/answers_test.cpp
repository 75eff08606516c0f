// Answers on the way to the teacher: how every kind is written and read, what is refused, and what the teacher stores
// if answers arrive late, twice, or too often.
#include <cmath>
#include <limits>
#include <random>

#include "engine/lesson/lab/attempt_text.hpp"
#include "telemetry/classroom/class_register.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::classroom;

namespace {

const Attempt every_kind[] = {31.5,
                              std::string("more \"micro-batches\", \u00e0 la carte"),
                              std::vector<std::string>{"forward", "backward", "update"},
                              std::vector<double>{0, 1.25, 7.5},
                              PointedOp{2, *parse_token("B:c1:m3")},
                              PointedRank{3},
                              PointedLink{"leaf switch", 1, 0, 0},
                              PointedLink{"", 0, 4, 5}};

Answer answer_of(Attempt attempt, int number = 1, Verdict verdict = Verdict::wrong,
                 std::string at = "2026-11-24T09:30:00Z") {
  return {"data-parallel", 2, std::move(attempt), number, verdict, std::move(at)};
}

/// The message with one member replaced; `value` as JSON.
std::string with(const std::string& key, const std::string& value, const Attempt& attempt = 31.5) {
  std::string text = to_text(answer_of(attempt));
  const std::size_t from = text.find("\"" + key + "\":");
  REQUIRE(from != std::string::npos);
  const std::size_t begin = from + key.size() + 3;
  std::size_t end = begin;
  for (int depth = 0; end < text.size() && (depth > 0 || (text[end] != ',' && text[end] != '}')); ++end)
    depth += (text[end] == '[' || text[end] == '{') - (text[end] == ']' || text[end] == '}');
  return text.replace(begin, end - begin, value);
}

std::string refusal_of(const std::string& text) {
  std::string why;
  CHECK_FALSE(parse(text, &why));
  return why;
}

/// A register with one student, whose connection is "ada".
struct OneStudent {
  ClassRegister members;
  explicit OneStudent(ClassLimits limits = {}) : members(limits) {
    REQUIRE(members.admit("ada", "10.0.0.1", "key", "Ada", ClassRegister::Clock::now()).empty());
  }
  std::string give(const Answer& answer) { return members.answer("ada", answer); }
  Tries tries() const {
    const auto all = members.students(ClassRegister::Clock::now()).front().answers;
    const auto found = all.find({"data-parallel", 2});
    return found == all.end() ? Tries{} : found->second;
  }
};

}  // namespace

TEST_CASE("an answer of every kind arrives complete, with its try, verdict and time") {
  for (const Attempt& attempt : every_kind) {
    INFO(attempt_text(attempt));
    const auto read = parse(to_text(answer_of(attempt, 2, Verdict::right)));
    REQUIRE(read);
    const auto& answer = std::get<Answer>(*read);
    CHECK(answer.attempt == attempt);
    CHECK(answer.lab == "data-parallel");
    CHECK(answer.question == 2);
    CHECK(answer.number == 2);
    CHECK(answer.verdict == Verdict::right);
    CHECK(answer.at == "2026-11-24T09:30:00Z");
    CHECK(why_not_sendable(answer_of(attempt)).empty());
  }
}

TEST_CASE("a drawing with the maximum number of points fits a message, to seven digits") {
  std::vector<double> drawn;
  for (std::size_t i = 0; i < most_points; ++i)
    drawn.push_back(-std::numeric_limits<double>::max() / (3.0 + double(i)));
  const std::string text = to_text(answer_of(drawn));
  CHECK(text.size() < longest_message);
  const auto read = parse(text);
  REQUIRE(read);
  const auto& sent = std::get<std::vector<double>>(std::get<Answer>(*read).attempt);
  REQUIRE(sent.size() == drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) CHECK(sent[i] == Approx(drawn[i]).epsilon(1e-6));
  drawn.push_back(0);
  CHECK(why_not_sendable(answer_of(drawn)) == "a drawing has too many points");
  CHECK_FALSE(why_not_sendable(answer_of(std::vector<double>{1, std::nan("")})).empty());
  CHECK_FALSE(why_not_sendable(answer_of(std::numeric_limits<double>::infinity())).empty());
}

TEST_CASE("an older window sends only a number, and reads the number next to the answer") {
  const auto read = parse(R"({"kind":"answer","lab":"x","question":1,"guess":31.5})");
  REQUIRE(read);
  const auto& answer = std::get<Answer>(*read);
  CHECK(std::get<double>(answer.attempt) == 31.5);
  CHECK(answer.at.empty());
  CHECK(answer.verdict == Verdict::open);
  CHECK(to_text(answer_of(31.5)).find("\"guess\":31.5") != std::string::npos);
}

TEST_CASE("an invalid answer is refused with a reason") {
  const std::string long_words(longest_item + 1, 'x');
  struct Row {
    std::string text, why;
  };
  const Row rows[] = {
      {with("question_kind", "\"essay\""), "there is no such kind of question"},
      {with("question_kind", "\"choice\""), "the answer is none to a question of its kind"},
      {with("answer", "\"31\""), "the answer is none to a question of its kind"},
      {with("answer", "[1,\"2\"]", std::vector<double>{1}), "the answer is none to a question of its kind"},
      {with("answer", "[1,null]", std::vector<double>{1}), "an answer has something in it that is no number"},
      {with("answer", "[]", std::vector<double>{1}), "the answer is none to a question of its kind"},
      {with("answer", "{\"rank\":-1}", PointedRank{1}), "the answer is none to a question of its kind"},
      {with("answer", "{\"rank\":1e9}", PointedRank{1}), "the answer is none to a question of its kind"},
      {with("answer", "{\"rank\":1,\"op\":\"no op\"}", PointedRank{1}), "the answer is none to a question of its kind"},
      {with("answer", "\"" + long_words + "\"", std::string("a")), "an answer has words that are too long"},
      {with("answer", "\"a\\u0007b\"", std::string("a")), "an answer has a control character"},
      {with("try", "0"), "try is out of range"},
      {with("try", "1.5"), "try is no whole number"},
      {with("verdict", "\"perfect\""), "there is no such verdict"},
      {with("at", "\"yesterday\""), "at is no time such as 2026-11-24T09:30:00Z"},
      {with("at", "\"2026-13-24T09:30:00Z\""), "at is no time such as 2026-11-24T09:30:00Z"},
      {with("at", "\"=2026-11-24T09:30:0\""), "at is no time such as 2026-11-24T09:30:00Z"},
      {with("question", "32"), "question is out of range"},
  };
  for (const Row& row : rows) {
    INFO(row.text.substr(0, 200));
    CHECK(refusal_of(row.text) == row.why);
  }
  CHECK_FALSE(refusal_of(with("answer", "1e999")).empty());
  CHECK(why_not_sendable(answer_of(std::vector<std::string>(most_items + 1, "a"))) == "an order has too many items");
  CHECK(refusal_of(std::string(longest_message + 1, ' ')).starts_with("a message of 16"));
}

TEST_CASE("damaged answers are read as far as valid, or refused, never beyond the limits") {
  std::mt19937 random(7);
  int read = 0, refused = 0;
  for (int i = 0; i < 40000; ++i) {
    std::string text = to_text(answer_of(every_kind[static_cast<std::size_t>(i) % std::size(every_kind)]));
    for (int hits = 1 + static_cast<int>(random() % 3); hits > 0; --hits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, 1 + random() % 8); break;
        case 2: text.insert(at, text.substr(random() % text.size(), random() % 16)); break;
        default: text.insert(at, std::string(1, "[]{}\",:0-e."[random() % 11])); break;
      }
    }
    std::string why;
    const auto message = parse(text, &why);
    const auto* answer = message ? std::get_if<Answer>(&*message) : nullptr;
    if (answer == nullptr) {
      refused += !message;
      if (!message) CHECK_FALSE(why.empty());
      continue;
    }
    ++read;
    CHECK(answer->number >= 1);
    CHECK(answer->number <= most_try);
    CHECK((answer->question >= 0 && answer->question < most_questions));
    if (!answer->at.empty()) CHECK(why_not_sendable(*answer).empty());
  }
  CHECK(read > 1000);
  CHECK(refused > 10000);
}

TEST_CASE("late answers are put in order, and duplicates are stored once") {
  OneStudent ada;
  const Answer first = answer_of(10.0, 1, Verdict::wrong, "2026-11-24T09:30:00Z");
  const Answer second = answer_of(27.0, 2, Verdict::right, "2026-11-24T09:31:00Z");
  CHECK(ada.give(second).empty());
  CHECK(ada.give(first).empty());
  CHECK(ada.give(second).empty());
  REQUIRE(ada.tries().size() == 2);
  CHECK(ada.tries()[0] == Tried{10.0, 1, Verdict::wrong, "2026-11-24T09:30:00Z"});
  CHECK(ada.tries()[1].verdict == Verdict::right);
  CHECK(ada.members.answers() == 2);
  CHECK(ada.give(answer_of(99.0, 1, Verdict::right, first.at)) == "two answers are of the same time");
  CHECK(std::get<double>(ada.tries()[0].attempt) == 10.0);
}

TEST_CASE("a later result of a run is stored with the answer, and kept") {
  OneStudent ada;
  CHECK(ada.give(answer_of(27.0, 1, Verdict::open)).empty());
  const auto before = ada.members.changes();
  CHECK(ada.give(answer_of(27.0, 1, Verdict::right)).empty());
  CHECK(ada.members.changes() != before);
  CHECK(ada.give(answer_of(27.0, 1, Verdict::open)).empty());
  REQUIRE(ada.tries().size() == 1);
  CHECK(ada.tries()[0].verdict == Verdict::right);
}

TEST_CASE("of many tries the first and the last ones are kept, and a student's answers have a limit") {
  ClassLimits limits;
  limits.tries = 4;
  limits.answer_bytes = 4000;
  OneStudent ada(limits);
  for (int i = 0; i < 50; ++i) {
    const std::string minute = std::to_string(10 + i);
    CHECK(ada.give(answer_of(double(i), i + 1, Verdict::wrong, "2026-11-24T09:" + minute + ":00Z")).empty());
  }
  REQUIRE(ada.tries().size() == 4);
  CHECK(std::get<double>(ada.tries()[0].attempt) == 0);
  CHECK(std::get<double>(ada.tries()[1].attempt) == 1);
  CHECK(std::get<double>(ada.tries()[3].attempt) == 49);
  Answer large = answer_of(std::vector<double>(most_points, 1.0));
  large.question = 3;
  CHECK(ada.give(large) == "a student's answers take more room than there is");
  CHECK(ada.members.answers() == 4);
}

TEST_CASE("an older window has one answer to a question, its last") {
  OneStudent ada;
  CHECK(ada.give({"data-parallel", 2, 10.0, 1, Verdict::open, {}}).empty());
  CHECK(ada.give({"data-parallel", 2, 12.0, 1, Verdict::open, {}}).empty());
  REQUIRE(ada.tries().size() == 1);
  CHECK(std::get<double>(ada.tries()[0].attempt) == 12.0);
}
