#include "engine/lesson/lab/judge.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

Question share() {
  Question question;
  question.unit = "%";
  question.tolerance = 2;
  question.mistakes = {{37.5, "useful time"}, {30.0, "near the truth"}};
  return question;
}

}  // namespace

TEST_CASE("A number is right within the tolerance, including its ends") {
  const Question question = share();
  CHECK(judge(question, 27.0, 27.3).grade == Grade::right);
  CHECK(judge(question, 29.3, 27.3).grade == Grade::right);
  CHECK(judge(question, 29.31, 27.3).grade == Grade::wrong);
  CHECK(judge(question, 25.0, 27.3).off == Approx(-2.3));
  CHECK(judge(question, std::nan(""), 27.3).grade == Grade::wrong);
}

TEST_CASE("A number within the tolerance, but relatively far off for a small value, is judged close") {
  Question question = share();
  question.tolerance = 6;
  CHECK(judge(question, 8.0, 13.1).grade == Grade::close);
  CHECK(judge(question, 0.4, 1.3).grade == Grade::right);  // errors below one point are small
}

TEST_CASE("A usual mistake is recognised, and never where an answer is accepted") {
  const Question question = share();
  CHECK(judge(question, 37.0, 27.3).because == "useful time");
  CHECK(judge(question, 40.0, 27.3).because.empty());
  // 30 is 2.7 from the right value: its range ends where the accepted range does.
  CHECK(mistake_range(question, 30, 27.3) == Approx(0.7));
  CHECK(judge(question, 29.6, 27.3).because == "near the truth");
  CHECK(judge(question, 29.2, 27.3).because.empty());
  CHECK(judge(question, 29.2, 27.3).accepted());
}

TEST_CASE("A fraction where percent are asked for, and a wrong unit by thousands, are named") {
  Question question = share();
  CHECK(judge(question, 0.273, 27.3).because == "That is a fraction of 1; the question asks for percent.");
  question.unit = "ms";
  question.tolerance = 3;
  CHECK(judge(question, 0.0273, 27.3).because == "That is 1000 times too small; the question asks for ms.");
  CHECK(judge(question, 27300.0, 27.3).because == "That is 1000 times too large; the question asks for ms.");
  question.unit = "MiB";
  CHECK(judge(question, 27.3 * 1024, 27.3).because == "That is 1024 times too large; the question asks for MiB.");
  question.unit = "";
  CHECK(judge(question, 27300.0, 27.3).because.empty());
}

TEST_CASE("Options, orders, drawings and ops are compared as what they are") {
  Question question;
  question.kind = QuestionKind::choice;
  question.mistakes = {{std::string("a"), "not a"}};
  CHECK(judge(question, std::string("b"), Target(std::string("b"))).accepted());
  CHECK(judge(question, std::string("a"), Target(std::string("b"))).because == "not a");
  CHECK(judge(question, 3.0, Target(std::string("b"))).grade == Grade::wrong);

  question = {};
  question.kind = QuestionKind::order;
  using Items = std::vector<std::string>;
  CHECK(judge(question, Items{"a", "b"}, Target(Items{"a", "b"})).accepted());
  CHECK_FALSE(judge(question, Items{"b", "a"}, Target(Items{"a", "b"})).accepted());

  question = {};
  question.kind = QuestionKind::draw;
  question.tolerance = 1;
  const std::vector<double> truth{4, 3, 2, std::nan("")};
  question.mistakes = {{std::vector<double>{8, 8, 8, 8}, "GPipe's"}};
  CHECK(judge(question, std::vector<double>{4.5, 3.5, 3, 9}, Target(truth)).accepted());
  CHECK(judge(question, std::vector<double>{8, 8, 8, 8}, Target(truth)).because == "GPipe's");
  CHECK(mean_distance({4, 5}, truth) == Approx(1));

  question = {};
  question.kind = QuestionKind::point;
  question.mistakes = {{OpPattern{.kind = OpKind::backward}, "a backward"}};
  const Target forward = OpPattern{.rank = 1, .kind = OpKind::forward};
  CHECK(judge(question, PointedOp{1, *parse_token("F:c1:m0")}, forward).accepted());
  CHECK(judge(question, PointedOp{1, *parse_token("B:c1:m0")}, forward).because == "a backward");
  CHECK(judge(question, PointedOp{0, *parse_token("F:c0:m0")}, forward).because.empty());
}

TEST_CASE("A clicked rank or link is right if it fits, else a usual mistake if it fits that") {
  Question question;
  question.kind = QuestionKind::point;
  question.at = PointAt::rank;
  question.mistakes = {{RankPattern{{0, 1}}, "they wait"}};
  const Target slow = RankPattern{{2}};
  CHECK(judge(question, PointedRank{2}, slow).accepted());
  CHECK(judge(question, PointedRank{1}, slow).because == "they wait");
  CHECK(judge(question, PointedRank{3}, slow).because.empty());
  CHECK_FALSE(judge(question, PointedOp{2, *parse_token("F:c0:m0")}, slow).accepted());
  question.at = PointAt::link;
  question.mistakes = {{LinkPattern{.level = "device"}, "fast"}};
  const Target node = LinkPattern{.level = "node"};
  CHECK(judge(question, PointedLink{"node", 7, 0, 0}, node).accepted());
  CHECK(judge(question, PointedLink{"device", 7, 0, 0}, node).because == "fast");
  CHECK_FALSE(judge(question, PointedLink{"", 0, 1, 2}, node).accepted());
}
