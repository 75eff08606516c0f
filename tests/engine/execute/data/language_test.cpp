#include "engine/execute/data/language.hpp"

#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("every context's successors are distinct and their probabilities sum to one exactly") {
  for (const int vocabulary : {2, 3, 4, 5, 64, 256, 5000}) {
    const Language language(vocabulary, 9);
    for (std::int32_t token = 0; token < vocabulary; ++token)
      for (int c = 0; c < Language::classes; ++c) {
        double sum = 0;
        std::map<std::int32_t, int> seen;
        for (const auto& s : language.successors(token, c)) {
          sum += s.probability;
          REQUIRE(s.probability > 0);
          REQUIRE(s.token >= 0);
          REQUIRE(s.token < vocabulary);
          REQUIRE(++seen[s.token] == 1);
        }
        REQUIRE(sum == 1.0);
        REQUIRE(static_cast<int>(seen.size()) == std::min(vocabulary, Language::most_successors));
      }
  }
}

TEST_CASE("the stationary distribution is unchanged by one step of the chain") {
  for (const int vocabulary : {2, 3, 17, 256, 2000}) {
    const Language language(vocabulary, 3);
    std::vector<double> next(static_cast<std::size_t>(vocabulary) * Language::classes);
    double sum = 0;
    for (std::int32_t token = 0; token < vocabulary; ++token)
      for (int c = 0; c < Language::classes; ++c) {
        sum += language.stationary(token, c);
        for (const auto& s : language.successors(token, c))
          next[s.token * Language::classes + language.class_of(token)] += language.stationary(token, c) * s.probability;
      }
    CHECK(sum == Approx(1).epsilon(1e-12));
    double change = 0;
    for (std::int32_t token = 0; token < vocabulary; ++token)
      for (int c = 0; c < Language::classes; ++c)
        change += std::abs(next[token * Language::classes + c] - language.stationary(token, c));
    CHECK(change < 1e-12);
  }
}

TEST_CASE("entropies match a calculation by hand on the joint distribution of three tokens") {
  // H(X2 | X0 X1) and H(X1 | X0) from the joint distribution of (token before, token, token after): this computation
  // does not use the chain's states.
  const int V = 7;
  const Language language(V, 5);
  // P(x0, x1): the state (x1, c) is reached from tokens x0 of class c; count them by stepping the chain once.
  std::map<std::tuple<int, int, int>, double> joint;
  for (int x0 = 0; x0 < V; ++x0)
    for (int c = 0; c < Language::classes; ++c)
      for (const auto& x1 : language.successors(x0, c))
        for (const auto& x2 : language.successors(x1.token, language.class_of(x0)))
          joint[{x0, x1.token, x2.token}] += language.stationary(x0, c) * x1.probability * x2.probability;
  std::map<std::tuple<int, int>, double> pair;
  std::map<int, double> single;
  for (const auto& [xs, p] : joint) {
    pair[{std::get<0>(xs), std::get<1>(xs)}] += p;
    single[std::get<0>(xs)] += p;
  }
  const auto entropy = [](const auto& distribution) {
    double h = 0;
    for (const auto& [x, p] : distribution) h -= p * std::log(p);
    return h;
  };
  CHECK(language.entropy_rate() == Approx(entropy(joint) - entropy(pair)).epsilon(1e-9));
  CHECK(language.entropy_given_one() == Approx(entropy(pair) - entropy(single)).epsilon(1e-9));
  CHECK(language.floor(10) == Approx((language.entropy_given_one() + 9 * language.entropy_rate()) / 10));
}

TEST_CASE("two tokens of context help: the floor is well below the entropy given one token") {
  const Language language(256, 1);
  CHECK(language.entropy_rate() < 0.85 * language.entropy_given_one());
  CHECK(language.entropy_given_one() < 0.4 * std::log(256.0));
  CHECK(language.entropy_rate() > 0.5);
  // Quoted in the lesson of the 1F1B lab. A change of the generator would make the lesson wrong, and losses would no
  // longer be comparable with older ones.
  CHECK(language.entropy_given_one() == Approx(1.548137).epsilon(1e-6));
  CHECK(language.floor(64) == Approx(1.138556).epsilon(1e-6));
}

TEST_CASE("an ideal predictor's mean loss on drawn samples is the floor") {
  const Language language(64, 11);
  const int context = 16, samples = 20000;
  double loss = 0, squares = 0;
  std::vector<std::int32_t> tokens(context + 1);
  for (int sample = 0; sample < samples; ++sample) {
    language.draw(sample, context + 1, tokens.data());
    double of_sample = 0;
    for (int i = 0; i < context; ++i) {
      // At position 0, the class of the token before is unknown: weigh all classes by their share.
      double p = 0, share = 0;
      for (int c = 0; c < Language::classes; ++c) {
        if (i > 0 && c != language.class_of(tokens[i - 1])) continue;
        share += language.stationary(tokens[i], c);
        for (const auto& s : language.successors(tokens[i], c))
          if (s.token == tokens[i + 1]) p += language.stationary(tokens[i], c) * s.probability;
      }
      REQUIRE(p > 0);
      of_sample -= std::log(p / share);
    }
    of_sample /= context;
    loss += of_sample;
    squares += of_sample * of_sample;
  }
  const double mean = loss / samples, deviation = std::sqrt(squares / samples - mean * mean);
  CHECK(mean == Approx(language.floor(context)).margin(4.5 * deviation / std::sqrt(samples)));
}

TEST_CASE("a sample is a function of seed and index, and its beginning does not depend on its length") {
  const Language language(100, 4), same(100, 4), other(100, 5);
  std::vector<std::int32_t> a(65), b(65), c(65), longer(300);
  int equal_to_other = 0, equal_to_next = 0;
  for (std::int64_t sample : {std::int64_t{0}, std::int64_t{1}, std::int64_t{77}, std::int64_t{1} << 35}) {
    language.draw(sample, 65, a.data());
    same.draw(sample, 65, b.data());
    CHECK(a == b);
    language.draw(sample, 300, longer.data());
    CHECK(std::equal(a.begin(), a.end(), longer.begin()));
    other.draw(sample, 65, c.data());
    equal_to_other += a == c;
    language.draw(sample + 1, 65, c.data());
    equal_to_next += a == c;
  }
  CHECK(equal_to_other == 0);
  CHECK(equal_to_next == 0);
}
