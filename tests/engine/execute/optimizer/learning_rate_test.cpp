#include "engine/execute/optimizer/learning_rate.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

TrainSpec train_of(const char* decay, int warmup, int decay_steps) {
  TrainSpec train;
  train.steps = 110;
  train.learning_rate = 0.8;
  train.min_learning_rate = 0.2;
  train.decay = decay;
  train.warmup_steps = warmup;
  train.decay_steps = decay_steps;
  return train;
}

}  // namespace

TEST_CASE("the warm-up rises by equal steps and ends with the whole rate") {
  const char* decay = GENERATE("none", "linear", "cosine");
  const LearningRate rate(train_of(decay, 10, 0));
  for (int s = 0; s < 10; ++s) CHECK(rate.at(s) == Approx(0.08 * (s + 1)).epsilon(1e-15));
  CHECK(rate.at(10) == 0.8);
  CHECK(LearningRate(train_of(decay, 0, 0)).at(0) == 0.8);
}

TEST_CASE("without a decay the rate stays") {
  const LearningRate rate(train_of("none", 10, 0));
  CHECK(rate.at(109) == 0.8);
  CHECK(rate.at(100000) == 0.8);
}

TEST_CASE("a linear decay is at half its range halfway, and then stays at the least rate") {
  const int decay_steps = GENERATE(0, 60);  // 0: with the run, at 110
  const LearningRate rate(train_of("linear", 10, decay_steps));
  const int end = decay_steps > 0 ? decay_steps : 110, length = end - 10;
  for (int s = 10; s <= end; ++s) CHECK(rate.at(s) == Approx(0.8 - 0.6 * (s - 10) / length).epsilon(1e-14));
  CHECK(rate.at(10 + length / 2) == Approx(0.5).epsilon(1e-14));
  CHECK(rate.at(end) == Approx(0.2).epsilon(1e-14));
  CHECK(rate.at(end + 1000) == Approx(0.2).epsilon(1e-14));
}

TEST_CASE("a cosine decay follows half a cosine") {
  const LearningRate rate(train_of("cosine", 10, 70));
  CHECK(rate.at(10) == Approx(0.8).epsilon(1e-15));
  CHECK(rate.at(25) == Approx(0.2 + 0.3 * (1 + std::sqrt(0.5))).epsilon(1e-14));
  CHECK(rate.at(30) == Approx(0.2 + 0.3 * 1.5).epsilon(1e-14));
  CHECK(rate.at(40) == Approx(0.5).epsilon(1e-14));
  CHECK(rate.at(50) == Approx(0.2 + 0.3 * 0.5).epsilon(1e-14));
  CHECK(rate.at(70) == Approx(0.2).epsilon(1e-14));
  CHECK(rate.at(71) == Approx(0.2).epsilon(1e-14));
}

TEST_CASE("an unknown decay is refused") {
  // Files with other names are refused earlier, with the known names (tests/engine/plan/scenario).
  CHECK_THROWS_WITH(train_of("exponential", 0, 0), "unknown 'exponential'; known: none, linear, cosine");
}
