// The peak that MFU is a share of, as a kernel set is asked for it.
#include <cmath>
#include <set>

#include "engine/calibrate/peak.hpp"
#include "kernels/tensor/element.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// What a million values of a matrix are: uniform in [-1, 1) has mean 0 and mean square 1/3.
struct Spread {
  explicit Spread(const View& matrix) {
    const std::int64_t n = matrix.elements();
    std::set<double> values;
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = element(matrix, i);
      mean += x / static_cast<double>(n);
      mean_square += x * x / static_cast<double>(n);
      if (i < 10'000) values.insert(x);
    }
    distinct = values.size();
  }
  double mean = 0, mean_square = 0;
  std::size_t distinct = 0;
};

}  // namespace

TEST_CASE("the peak is measured on random matrices: zeros and constants are quicker on a GPU than what is trained on") {
  Platform platform = *open_platform("cpu");
  std::vector<Spread> seen;
  const auto prepare = platform.kernels.linear_forward.make;
  static decltype(seen)* into = nullptr;  // a row of the table is a plain function
  static decltype(platform.kernels.linear_forward.make) own = nullptr;
  into = &seen, own = prepare;
  platform.kernels.linear_forward.make = [](const kernels::LinearSpec& spec, const kernels::Options& options) {
    auto op = own(spec, options);
    op.launch = [launch = op.launch](View y, View x, View w, View b, View r, const kernels::Stream& stream) {
      if (into->empty()) into->insert(into->end(), {Spread(x), Spread(w)});
      launch(y, x, w, b, r, stream);
    };
    return op;
  };
  for (const DType type : {DType::f32, DType::bf16}) {
    INFO(name_of(type));
    seen.clear();
    CHECK(measure_peak(type, platform, {.least_seconds = 0, .most_seconds = 0}).best.device > 0);
    REQUIRE(seen.size() == 2);
    for (const Spread& matrix : seen) {
      CHECK(std::abs(matrix.mean) < 0.01);
      CHECK(std::abs(matrix.mean_square - 1.0 / 3) < 0.01);
      CHECK(matrix.distinct > 400);  // bf16 has some five hundred in each half
    }
  }
}
