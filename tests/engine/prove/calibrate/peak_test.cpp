// The measured peak that MFU is relative to.
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>

#include "engine/prove/calibrate/bandwidth.hpp"
#include "engine/prove/calibrate/peak.hpp"
#include "engine/prove/calibrate/stored_peak.hpp"
#include "kernels/tensor/element.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;

namespace {

/// Statistics of a matrix's values: uniform values in [-1, 1) have mean 0 and mean square 1/3.
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

TEST_CASE("the peak is measured on random matrices: zeros and constants are faster on a GPU than real data") {
  Platform platform = *open_platform("cpu");
  std::vector<Spread> seen;
  const auto prepare = platform.kernels.linear_forward.make;
  static decltype(seen)* into = nullptr;  // needed because a table entry is a plain function
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
      CHECK(matrix.distinct > 400);  // bf16 has about five hundred values in each half
    }
  }
}

namespace {

constexpr const char* now = "2026-11-23T12:00:00Z";

/// A stored peak of this machine with this rate.
StoredPeak stored(const Platform& platform, double flops) {
  PeakMeasurement measured;
  measured.best = {flops, flops};
  measured.size = 384;
  measured.samples = 100;
  measured.spread = 0.001;
  return {{this_machine(), platform.libraries, 1, "fp32"}, measured, 0, "2026-01-01T00:00:00Z"};
}

}  // namespace

TEST_CASE("a stored peak is reused for the same machine, libraries, threads and precision only") {
  const testing::TemporaryDirectory folder;
  const PeakStore store(folder.path() / "rankscope" / "peaks.json");
  const auto platform = open_platform("cpu");
  CHECK_THAT(platform->libraries, ContainsText("oneDNN "));
  CHECK_THAT(platform->libraries, ContainsText("OpenBLAS "));
  constexpr double above_any_core = 1e14;
  REQUIRE(store.put(stored(*platform, above_any_core)) == "");
  for (int start = 0; start < 2; ++start) {
    const MachinePeak found = peak_of_machine(DType::f32, *platform, store, false, now);
    CHECK_FALSE(found.measured_now);
    CHECK(found.peak.measured.best.device == above_any_core);
    CHECK(found.peak.utc == "2026-01-01T00:00:00Z");
    CHECK(found.now.device > 0);  // it was verified by a short measurement
    CHECK(found.now.device < above_any_core);
  }
  PeakKey other = stored(*platform, 1).key;
  other.threads = 2;
  CHECK_FALSE(store.find(other));
  other = stored(*platform, 1).key;
  other.libraries = "oneDNN 1.0.0";
  CHECK_FALSE(store.find(other));
  other = stored(*platform, 1).key;
  other.machine.host = "elsewhere";
  CHECK_FALSE(store.find(other));
}

TEST_CASE(
    "a peak that a start exceeds, that was not steady, or whose measurement is requested, is measured again and "
    "stored") {
  const testing::TemporaryDirectory folder;
  const PeakStore store(folder.path() / "peaks.json");
  const auto platform = open_platform("cpu");
  StoredPeak before = stored(*platform, 1e6);  // less than any machine reaches
  bool again = false;
  SECTION("exceeded") {}
  SECTION("not steady") { before.measured.spread = 0.2; }
  SECTION("requested again") {
    before = stored(*platform, 1e14);
    before.measured.spread = 0.2;  // a steady one would otherwise be kept
    again = true;
  }
  REQUIRE(store.put(before) == "");
  const MachinePeak found = peak_of_machine(DType::f32, *platform, store, again, now);
  CHECK(found.measured_now);
  CHECK(found.peak.utc == now);
  CHECK(found.peak.measured.best.device > 1e6);
  CHECK(found.peak.measured.best.device < 1e14);
  CHECK(found.peak.measured.samples > 3);
  const auto after = store.find(before.key);
  REQUIRE(after);
  CHECK(after->measured.best.device == Approx(found.peak.measured.best.device));
  CHECK(store.all().size() == 1);
}

TEST_CASE("a busy machine does not replace a steady peak") {
  PeakMeasurement steady, busy;
  steady.spread = 0.005;
  busy.spread = 0.3;
  CHECK(keeps_stored(steady, busy));
  CHECK_FALSE(keeps_stored(steady, steady));
  CHECK_FALSE(keeps_stored(busy, steady));
  CHECK_FALSE(keeps_stored(busy, busy));
}

TEST_CASE("a damaged store of peaks is ignored, and a store that cannot be written is reported") {
  const testing::TemporaryDirectory folder;
  const auto platform = open_platform("cpu");
  const PeakStore store(folder.path() / "peaks.json");
  REQUIRE(store.put(stored(*platform, 2e9)) == "");
  std::ofstream(store.file()) << "[{\"host\": 3}, {\"cpu\"";
  CHECK(store.all().empty());
  CHECK(store.put(stored(*platform, 2e9)) == "");
  CHECK(store.all().size() == 1);
  CHECK_THAT(PeakStore("/dev/null/peaks.json").put(stored(*platform, 2e9)), ContainsText("cannot write /dev/null"));
  CHECK_THAT(PeakStore({}).put(stored(*platform, 2e9)), ContainsText("HOME"));
}

TEST_CASE("memory bandwidth is that of a plain copy of the same size, and is stored with the peak") {
  const auto platform = open_platform("cpu");
  const BandwidthEffort effort;
  std::vector<char> from(static_cast<std::size_t>(effort.bytes), 1), to(from.size());
  // Both are the best of several runs; other processes disturb some of them, perhaps all of one side.
  double measured = 0, plain = 0;
  const auto are_equal = [&] { return measured > plain / 2 && measured < plain * 2; };
  for (int round = 0; round < 10 && !are_equal(); ++round) {
    measured = std::max(measured, measure_memory_bandwidth(*platform, effort));
    for (int i = 0; i < 8; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      std::copy(from.begin(), from.end(), to.begin());
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
      plain = std::max(plain, 2 * static_cast<double>(from.size()) / took.count());
    }
  }
  REQUIRE(to.back() == 1);
  INFO("measured " << measured << ", plain " << plain);
  CHECK(are_equal());

  const testing::TemporaryDirectory folder;
  const PeakStore store(folder.path() / "peaks.json");
  REQUIRE(store.put(stored(*platform, 1e14)) == "");  // like an earlier version: without the bandwidth
  CHECK(peak_of_machine(DType::f32, *platform, store, false, now).peak.memory_bandwidth > 0);
  const auto after = store.find(stored(*platform, 1).key);
  REQUIRE(after);
  CHECK(after->memory_bandwidth > 0);
  CHECK(after->measured.best.device == 1e14);  // the stored peak is kept
  const MachinePeak again = peak_of_machine(DType::f32, *platform, store, false, now);
  CHECK(again.peak.memory_bandwidth == Approx(after->memory_bandwidth));
}
