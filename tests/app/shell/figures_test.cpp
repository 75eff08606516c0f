// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/command_palette.hpp"
#include "app/shell/gap_words.hpp"
#include "app/shell/plan_figures.hpp"
#include "app/views/common/axis.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/analyse/report_value.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

QString u(const char* text) { return QString::fromUtf8(text); }

/// A step of 10 ms predicted, 12 ms measured; 32 samples of 64 tokens.
Figures a_run() {
  Figures figures;
  figures.scenario.emplace();
  figures.scenario->train.global_batch = 32;
  figures.scenario->model.context = 64;
  figures.run.emplace();
  Report& run = *figures.run;
  run.ranks = 2;
  run.step_seconds = 0.012;
  run.predicted_step_seconds = 0.010;
  run.bubble = {0.2, 0.25, 0.31};
  run.mfu = 0.5;
  MemoryRow row;
  row.measured = MemoryBytes{{}, 3 << 20};
  row.predicted = MemoryBytes{{}, 2 << 20};
  run.memory = {row, row};
  run.memory[1].rank = 1;
  run.memory[1].measured->peak = 5 << 20;
  TrafficReport traffic;
  traffic.purpose = Purpose::pipeline_forward;
  traffic.bytes_per_rank = 1024;
  traffic.predicted = 2048;
  run.traffic = {traffic};
  return figures;
}

}  // namespace

TEST_CASE("Numbers have three digits, their unit, and an en dash where they are not known") {
  CHECK(text::seconds(0.0434) == u("43.4\u00A0ms"));
  CHECK(text::seconds(0.9996) == u("1.00\u00A0s"));
  CHECK(text::seconds(81.2e-6) == u("81.2\u00A0µs"));
  CHECK(text::seconds(std::nan("")) == u("–"));
  CHECK(text::bytes(96) == u("96\u00A0B"));
  CHECK(text::bytes(161.0 * 1048576) == u("161\u00A0MiB"));
  CHECK(text::bytes(1023) == u("0.999\u00A0KiB"));
  CHECK(text::bytes(std::nan("")) == u("–"));
  CHECK(text::percent(0.3104) == u("31.0\u00A0%"));
  CHECK(text::count(1284310) == "1,284,310");
  CHECK(text::number(48612) == "48,600");
  // Rounding by at most an error: a right answer stays right.
  CHECK(text::number_within(2.015625, 0) == "2.015625");
  CHECK(text::number_within(196608, 0) == "196,608");
  CHECK(text::number_within(18, 0.5) == "18");
  CHECK(text::number_within(1.0 / 3, 0.01) == "0.333");
  CHECK(text::number_within(1.0 / 3, 1e-6) == "0.333333");
  CHECK(text::number_within(-1234.567, 10) == "-1,235");
  CHECK(text::number_within(0.00031, 0) == "0.00031");
  CHECK(text::number(0.00031) == "0.00031");
  CHECK(text::bandwidth(1.21e9) == u("1.21\u00A0GB/s"));
}

TEST_CASE("Ticks are round, within the axis, and no more than asked for") {
  CHECK(round_ticks(0, 100, 5) == std::vector<double>{0, 20, 40, 60, 80, 100});
  CHECK(round_ticks(0.13, 0.42, 2) == std::vector<double>{0.2, 0.4});
  CHECK(round_ticks(5, 5, 3).empty());
  const Axis axis = byte_axis(24.0 * 1048576, 5);
  CHECK(axis.unit == "MiB");
  CHECK(axis.ticks.back().label == "20");
}

TEST_CASE("\"This plan\" states ideal, predicted and measured of one plan") {
  const auto lines = plan_lines(a_run());
  REQUIRE(lines.size() == plan_row_count);
  const auto& step = lines[static_cast<std::size_t>(PlanRow::step)];
  CHECK(step.predicted == u("10.0\u00A0ms"));
  CHECK(step.measured == u("12.0\u00A0ms"));
  const auto& tokens = lines[static_cast<std::size_t>(PlanRow::tokens)];
  CHECK(tokens.predicted == "205,000");  // 32 × 64 / 10 ms
  CHECK(tokens.measured == "171,000");
  const auto& bubble = lines[static_cast<std::size_t>(PlanRow::bubble)];
  // Not the chosen step's, which the time line and its bars show: the text states it.
  CHECK(bubble.name == u("bubble (median step)"));
  for (const PlanLine& line : lines) CHECK_FALSE(line.help.isEmpty());
  CHECK(bubble.ideal == u("20.0\u00A0%"));
  CHECK(bubble.predicted == u("25.0\u00A0%"));
  CHECK(bubble.measured == u("31.0\u00A0%"));
  const auto& memory = lines[static_cast<std::size_t>(PlanRow::peak_memory)];
  CHECK(memory.measured == u("5.00\u00A0MiB"));  // the rank that needs most
  CHECK(memory.predicted == u("2.00\u00A0MiB"));
  CHECK(lines[static_cast<std::size_t>(PlanRow::sent)].measured == u("1.00\u00A0KiB"));
  CHECK(lines[static_cast<std::size_t>(PlanRow::sent)].name == u("sent by a rank"));
  // By links, it is the traffic of the rank that sends most, to all receivers.
  Figures linked = a_run();
  linked.run->links = {{0, 1, 1024, 512}, {0, 2, 2048, 512}, {1, 0, 2560, 2048}};
  const PlanLine sent = plan_lines(linked)[static_cast<std::size_t>(PlanRow::sent)];
  CHECK(sent.name == u("most sent by a rank"));
  CHECK(sent.measured == u("3.00\u00A0KiB"));
  CHECK(sent.predicted == u("2.00\u00A0KiB"));
  CHECK(lines[static_cast<std::size_t>(PlanRow::mfu)].predicted == u("60.0\u00A0%"));  // 0.5 × 12 / 10
}

TEST_CASE("Unknown values are dashes, never zeros") {
  for (const PlanLine& line : plan_lines(Figures{}))
    for (const QString& value : {line.ideal, line.predicted, line.measured}) CHECK(value == u("–"));
  CHECK(gap_sentence(Figures{}).isEmpty());
}

TEST_CASE("The gap is a sentence with its largest causes, of one rank or of all ranks") {
  Figures figures = a_run();
  figures.step.emplace();
  figures.step->range = {0, 12'000'000};
  figures.forecast.emplace();
  figures.forecast->range = {0, 10'000'000};
  GapItem alone;
  alone.rank = 1;
  alone.time = TimeClass::bubble;
  alone.cause = BubbleCause::straggler;
  alone.points = 11;
  alone.words = "rank 1: bubble by straggler 2.20 ms more, +11.0 points";
  GapItem shared;
  shared.time = TimeClass::compute;
  shared.points = 4.5;
  figures.gap = {alone, shared, shared};
  CHECK(gap_sentence(figures) ==
        u("12.0\u00A0ms, 20.0 % above predicted: rank 1's bubble (straggler) +11.0 pp, compute +9.0 pp"));
  CHECK(gap_sentence(figures, 1).endsWith("+11.0 pp"));
  // For asynchronous workers a step's length is no rate, and is not compared.
  figures.run->plan.staleness = 2;
  figures.run->step_seconds = 0.005;
  figures.run->predicted_step_seconds = 0.004;
  CHECK(
      gap_sentence(figures).contains(u("takes 12.0\u00A0ms from the first begin to the last end, " "and the run completes a step every 5.00\u00A0ms (predicted "
                                       "4.00\u00A0ms)")));
}

TEST_CASE("A report's value is found by its path, lists by rank or purpose") {
  const Report report = *a_run().run;
  CHECK(value_at(report, "bubble.measured") == Approx(0.31));
  CHECK(value_at(report, "step_seconds") == Approx(0.012));
  CHECK(value_at(report, "memory.1.peak") == Approx(5 << 20));
  CHECK(value_at(report, "traffic.pipeline_forward.bytes_per_rank") == Approx(1024));
  CHECK_FALSE(value_at(report, "hfu"));  // null
  CHECK_FALSE(value_at(report, "traffic.loss.bytes_per_rank"));
  CHECK_FALSE(value_at(report, "no.such.thing"));
}

TEST_CASE("An open question hides the rows that would answer it, and no others") {
  CHECK(rows_revealing("bubble.measured") == std::set<PlanRow>{PlanRow::bubble});
  CHECK(rows_revealing("memory.0.activations") == std::set<PlanRow>{PlanRow::peak_memory});
  CHECK(rows_revealing("step_seconds") == std::set<PlanRow>{PlanRow::step, PlanRow::tokens});
  CHECK(rows_revealing("steps.*.tokens_per_s") == std::set<PlanRow>{PlanRow::step, PlanRow::tokens});
  CHECK(rows_revealing("steps.*.loss").empty());
  CHECK(training_reveals("steps.*.loss"));
  CHECK_FALSE(training_reveals("step_seconds"));
  CHECK(rows_revealing("time.data").empty());
  CHECK(shares_reveal("time.data"));
  CHECK_FALSE(shares_reveal("memory.0.activations"));
}

TEST_CASE("The command palette finds an action by letters in order") {
  CHECK(matches("", "Run"));
  CHECK(matches("opn rec", "Open recent"));
  CHECK_FALSE(matches("nur", "Run"));
}
