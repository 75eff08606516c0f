#include "engine/predict/cost/goodput.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("without failures only checkpoints cost, and none are needed") {
  CHECK(goodput(1e6, 900, {0, 100, 0}).share == Approx(0.9));
  CHECK(goodput(1e6, 0, {0, 0, 0}).share == 1);
  CHECK(goodput(1e6, 0, {0, 100, 0}).interval == 1e6);
}

TEST_CASE("the best interval is near Young's, and every other one loses more") {
  const Failures failures{86400, 60, 1200};
  const Goodput best = goodput(1e7, 0, failures);
  CHECK(best.interval == Approx(std::sqrt(2 * 60.0 * 86400)).epsilon(0.05));
  for (const double factor : {0.5, 0.8, 1.3, 3.0})
    CHECK(goodput(1e7, best.interval * factor, failures).share < best.share);
  // Lost per failure: a restart and half an interval; per interval: a checkpoint. To first order.
  const double lost = (1200 + best.interval / 2) / 86400 + 60 / best.interval;
  CHECK(1 - best.share == Approx(lost).epsilon(0.1));
  CHECK(best.failures == Approx(1e7 / best.share / 86400));
}

TEST_CASE("failures as frequent as checkpoints leave almost no progress") {
  CHECK(goodput(1e6, 3600, {3600, 600, 1800}).share < 0.4);
  CHECK(goodput(1e6, 0, {3600, 600, 1800}).share > goodput(1e6, 3600, {3600, 600, 1800}).share);
}
