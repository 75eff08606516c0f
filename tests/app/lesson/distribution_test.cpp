// SPDX-License-Identifier: GPL-3.0-or-later
// The distribution of a class's answers: the expected values were computed by hand.
#include "app/lesson/distribution.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

TEST_CASE("The histogram of guesses that are not shares covers their own range") {
  const Bins bins = bins_of({4, 4, 16, 10}, "MiB");
  CHECK(bins.low == 4);
  CHECK(bins.high == 16);
  int sum = 0;
  for (const int count : bins.counts) sum += count;
  CHECK(sum == 4);
  CHECK(bins.counts.front() == 2);
  CHECK(bins.counts.back() == 1);
  CHECK(bins_of({}, "MiB").counts.empty());
  CHECK(bins_of({7}, "MiB").counts.front() == 1);
}

TEST_CASE("Quartiles lie between the two nearest values") {
  const Quartiles five = quartiles_of({5, 1, 4, 2, 3});
  CHECK(five.low == 2);
  CHECK(five.median == 3);
  CHECK(five.high == 4);
  const Quartiles four = quartiles_of({0, 1, 2, 4});
  CHECK(four.low == Approx(0.75));
  CHECK(four.median == Approx(1.5));
  CHECK(four.high == Approx(2.5));
  CHECK(quartiles_of({7}).median == 7);
  CHECK(std::isnan(quartiles_of({}).median));
}

TEST_CASE("Numbers are binned; the right value and the usual mistakes are marked once they may be shown") {
  Question question;
  question.unit = "%";
  question.tolerance = 1;
  question.mistakes = {{37.5, "useful time"}};
  const std::vector<Attempt> given{27.0, 28.0, 37.5, 99.0, std::string("no number")};
  const Distribution hidden = distribution_of(question, given, std::nullopt);
  CHECK(hidden.answers == 4);
  CHECK(hidden.bins.counts == std::vector<int>{0, 0, 2, 1, 0, 0, 0, 0, 0, 1});
  CHECK_FALSE(hidden.truth);
  CHECK(hidden.mistakes.empty());
  const Distribution distribution = distribution_of(question, given, Target(300.0 / 11));
  CHECK(*distribution.truth == Approx(27.27).margin(0.01));
  CHECK(distribution.mistakes == std::vector<double>{37.5});
}

TEST_CASE("Options are counted in their order; orders and positions by frequency") {
  Question choice;
  choice.kind = QuestionKind::choice;
  choice.options = {"a", "b", "c"};
  choice.mistakes = {{std::string("b"), "not b"}};
  const std::vector<Attempt> given{std::string("b"), std::string("b"), std::string("a")};
  const Distribution options = distribution_of(choice, given, Target(std::string("a")));
  REQUIRE(options.counted.size() == 3);
  CHECK(options.counted[0].words == "a");
  CHECK(options.counted[0].count == 1);
  CHECK(options.counted[0].right == true);
  CHECK(options.counted[1].count == 2);
  CHECK(options.counted[1].right == false);
  CHECK(options.counted[1].because == "not b");
  CHECK(options.counted[2].count == 0);
  CHECK_FALSE(distribution_of(choice, given, std::nullopt).counted[0].right);

  Question point;
  point.kind = QuestionKind::point;
  const PointedOp backward{2, *parse_token("B:c2:m1")}, forward{0, *parse_token("F:c0:m0")};
  const Distribution places =
      distribution_of(point, {forward, backward, backward}, Target(OpPattern{.rank = 2, .kind = OpKind::backward}));
  REQUIRE(places.counted.size() == 2);
  CHECK(places.counted[0].words == "backward, micro-batch 1, rank 2");
  CHECK(places.counted[0].count == 2);
  CHECK(places.counted[0].right == true);
  CHECK(places.counted[1].count == 1);
  CHECK(words_of(places).startsWith("3 answers; backward, micro-batch 1, rank 2 (right): 2"));

  Question order;
  order.kind = QuestionKind::order;
  order.options = {"x", "y"};
  const std::vector<std::string> right{"x", "y"}, wrong{"y", "x"};
  const Distribution orders = distribution_of(order, {wrong, right, wrong}, Target(right));
  REQUIRE(orders.counted.size() == 2);
  CHECK(orders.counted[0].count == 2);
  CHECK(orders.counted[0].right == false);
}

TEST_CASE("Drawings have a median and quartiles at each point; one of another size is left out and counted") {
  Question question;
  question.kind = QuestionKind::draw;
  question.answer_from = "memory.*.peak";
  question.unit = "MiB";
  question.most = 8;
  const auto drawn = [](double first, double second) { return Attempt(std::vector<double>{first, second}); };
  const std::vector<Attempt> given{drawn(1, 8), drawn(2, 6), drawn(3, 4),
                                   drawn(4, 2), drawn(5, 0), std::vector<double>{1, 2, 3}};
  const Distribution spread = distribution_of(question, given, Target(std::vector<double>{3, 10}));
  CHECK(spread.answers == 6);
  CHECK(spread.other_sizes == 1);
  REQUIRE(spread.spread.size() == 2);
  CHECK(spread.spread[0].low == 2);
  CHECK(spread.spread[0].median == 3);
  CHECK(spread.spread[0].high == 4);
  CHECK(spread.spread[1].low == 2);
  CHECK(spread.spread[1].median == 4);
  CHECK(spread.spread[1].high == 6);
  CHECK(spread.true_series == std::vector<double>{3, 10});
  CHECK(spread.most == 10);  // the right answer also has space
  CHECK(distribution_of(question, {}, std::nullopt).spread.empty());
}
