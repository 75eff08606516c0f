#include "engine/explain/analyse/report_value.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

Report run_report() {
  Report report;
  report.bubble = {0.27, 0.29, 0.31};
  for (int rank = 0; rank < 3; ++rank) {
    MemoryBytes bytes;
    bytes.by_class[static_cast<std::size_t>(MemoryClass::activations)] = (4 - rank) << 20;
    bytes.peak = 8 << 20;
    report.memory.push_back({rank, bytes, std::nullopt});
  }
  report.memory[1].measured.reset();
  TrafficReport traffic;
  traffic.purpose = Purpose::pipeline_forward;
  traffic.bytes_per_rank = 1024;
  report.traffic.push_back(traffic);
  return report;
}

}  // namespace

TEST_CASE("a report's value is found by its path, through names, ranks and purposes") {
  const Report report = run_report();
  CHECK(value_at(report, "bubble.measured") == Approx(0.31));
  CHECK(value_at(report, "memory.2.activations") == Approx(2 << 20));
  CHECK(value_at(report, "traffic.pipeline_forward.bytes_per_rank") == Approx(1024));
  for (const char* unknown :
       {"hfu", "memory.1.activations", "memory.7.activations", "traffic.loss.count", "no.such.thing", ""}) {
    INFO(unknown);
    CHECK_FALSE(value_at(report, unknown));
  }
}

TEST_CASE("a series has a value for each rank, and none where it is not known") {
  const auto series = series_at(run_report(), "memory.*.activations");
  REQUIRE(series.size() == 3);
  CHECK(series[0] == Approx(4 << 20));
  CHECK(std::isnan(series[1]));
  CHECK(series_at(run_report(), "memory.0.activations").empty());
}

TEST_CASE("without a run a value is its prediction") {
  Report report = run_report();
  report.bubble.measured = std::nan("");
  for (MemoryRow& row : report.memory) {
    row.predicted = MemoryBytes{{}, 5 << 20, std::nullopt};
    row.measured.reset();
  }
  report.traffic[0].bytes_per_rank = std::nan("");
  report.traffic[0].predicted = 2048;
  report.predicted_step_seconds = 0.5;
  CHECK_FALSE(value_at(report, "bubble.measured"));
  CHECK(simulated_value_at(report, "bubble.measured") == Approx(0.29));
  CHECK(simulated_value_at(report, "memory.1.peak") == Approx(5 << 20));
  CHECK(simulated_value_at(report, "traffic.pipeline_forward.bytes_per_rank") == Approx(2048));
  CHECK(simulated_value_at(report, "step_seconds") == Approx(0.5));
  CHECK(simulated_series_at(report, "memory.*.peak") == std::vector<double>(3, 5 << 20));
  CHECK_FALSE(simulated_value_at(report, "mfu"));
}
