// The arithmetic of strong and weak scaling; the expected numbers are computed by hand.
#include "engine/explain/analyse/scaling.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// Points over plan.data with these numbers of ranks; 64 tokens per sample.
Sweep sweep_of(Scaling scaling, const std::vector<int>& ranks, const std::vector<int>& batches) {
  Sweep sweep;
  sweep.scaling = scaling;
  sweep.title = "a sweep";
  sweep.axes = {{"plan.data", {}}};
  sweep.steps = 3;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    sweep.axes[0].values.push_back(std::to_string(ranks[i]));
    SweepPoint point;
    point.keys = {{"plan.data", std::to_string(ranks[i])}};
    point.ranks = ranks[i];
    point.global_batch = batches[i];
    point.tokens_per_step = 64 * batches[i];
    sweep.points.push_back(point);
  }
  return sweep;
}

SweepRun run_of(int point, std::vector<double> seconds, double predicted = std::nan("")) {
  SweepRun run;
  run.point = point;
  run.step_seconds = std::move(seconds);
  run.predicted_step_seconds = predicted;
  return run;
}

SweepRun failure_of(int point, const std::string& why) {
  SweepRun run;
  run.point = point;
  run.failure = why;
  return run;
}

}  // namespace

TEST_CASE("a quartile between two values is the lower one, and an empty list has none") {
  CHECK(quartile({5, 1, 4, 2, 3}, 2) == 3);
  CHECK(quartile({5, 1, 4, 2, 3}, 1) == 2);
  CHECK(quartile({5, 1, 4, 2, 3}, 3) == 4);
  CHECK(quartile({2, 1}, 2) == 1);
  CHECK(quartile({7}, 1) == 7);
  CHECK(quartile({1, std::nan(""), 3, 2}, 2) == 2);
  CHECK(std::isnan(quartile({}, 2)));
}

TEST_CASE("strong scaling: the speed-up is T1/Tn and the efficiency T1/(n Tn)") {
  Sweep sweep = sweep_of(Scaling::strong, {1, 2, 4}, {32, 32, 32});
  sweep.runs = {run_of(0, {0.8, 0.8, 0.8}, 0.8), run_of(1, {0.5, 0.5, 0.5}, 0.4), run_of(2, {0.25, 0.25, 0.25}, 0.32)};
  const ScalingTable table = scaling_table(sweep);
  CHECK(table.baseline == 0);
  CHECK(table.complete());
  CHECK(table.rows[0].run.speedup == Approx(1));
  CHECK(table.rows[0].run.efficiency == Approx(1));
  CHECK(table.rows[1].run.speedup == Approx(1.6));     // 0.8/0.5
  CHECK(table.rows[1].run.efficiency == Approx(0.8));  // 1.6/2
  CHECK(table.rows[2].run.speedup == Approx(3.2));     // 0.8/0.25
  CHECK(table.rows[2].run.efficiency == Approx(0.8));
  CHECK(table.rows[1].predicted.efficiency == Approx(1.0));    // 0.8/(2 × 0.4)
  CHECK(table.rows[2].predicted.efficiency == Approx(0.625));  // 0.8/(4 × 0.32)
  CHECK(table.rows[2].run.tokens_per_s == Approx(8192));       // 2048 tokens in 0.25 s
  CHECK(table.rows[2].tokens_per_s_per_rank == Approx(2048));
  CHECK_THAT(table.formula, ContainsText("T1 / (n * Tn)"));
}

TEST_CASE("weak scaling: the efficiency is T1/Tn, and the speed-up counts the tokens that were added") {
  Sweep sweep = sweep_of(Scaling::weak, {1, 2, 4}, {8, 16, 32});
  sweep.runs = {run_of(0, {0.4}, 0.4), run_of(1, {0.5}, 0.4), run_of(2, {0.64}, 0.8)};
  const ScalingTable table = scaling_table(sweep);
  CHECK(table.rows[1].run.efficiency == Approx(0.8));    // 0.4/0.5
  CHECK(table.rows[1].run.speedup == Approx(1.6));       // 2 × 0.8
  CHECK(table.rows[2].run.efficiency == Approx(0.625));  // 0.4/0.64
  CHECK(table.rows[2].run.speedup == Approx(2.5));       // 4 × 0.625
  CHECK(table.rows[1].predicted.efficiency == Approx(1));
  CHECK(table.rows[2].predicted.efficiency == Approx(0.5));
  CHECK_THAT(table.formula, ContainsText("efficiency = T1/Tn"));
}

TEST_CASE("a baseline of several ranks has an efficiency of one, and the others are relative to it") {
  Sweep sweep = sweep_of(Scaling::strong, {2, 8}, {32, 32});
  sweep.runs = {run_of(0, {1.2}), run_of(1, {0.4})};
  const ScalingTable table = scaling_table(sweep);
  CHECK(table.rows[0].run.efficiency == Approx(1));
  CHECK(table.rows[1].run.speedup == Approx(3));
  CHECK(table.rows[1].run.efficiency == Approx(0.75));  // three times as fast with four times the ranks
  CHECK_THAT(table.formula, ContainsText("n1 = 2"));
}

TEST_CASE("the first measured point is the baseline, and missing earlier points are reported") {
  Sweep sweep = sweep_of(Scaling::strong, {1, 2, 4}, {32, 32, 32});
  sweep.points[0].refused = "one rank cannot";
  sweep.runs = {run_of(1, {1.0}), failure_of(2, "rank 3 died after step 1")};
  const ScalingTable table = scaling_table(sweep);
  CHECK(table.baseline == 1);
  CHECK(table.baseline_words == "plan.data=2, 2 ranks: the first point that was measured");
  CHECK(!table.complete());
  CHECK(table.rows[0].reason == "one rank cannot");
  CHECK(table.rows[0].runs == 0);
  CHECK(std::isnan(table.rows[0].run.efficiency));
  CHECK(table.rows[1].run.efficiency == Approx(1));
  CHECK(table.rows[2].reason == "rank 3 died after step 1");
  CHECK(table.rows[2].runs == 0);
}

TEST_CASE("repeats are pooled: the median and the quartiles are over the steps of all of a point's good runs") {
  Sweep sweep = sweep_of(Scaling::strong, {1}, {32});
  sweep.repeats = 3;
  sweep.runs = {run_of(0, {1, 2, 9}), run_of(0, {3, 4}), failure_of(0, "killed")};
  sweep.runs[2].repeat = 2;
  const ScalingRow row = scaling_table(sweep).rows[0];
  CHECK(row.runs == 2);
  CHECK(row.steps == 5);
  CHECK(row.run.step_seconds == 3);  // the median of 1 2 3 4 9
  CHECK(row.first_quartile == 2);
  CHECK(row.third_quartile == 4);
  CHECK(row.spread() == Approx(2.0 / 3));
  CHECK(row.run_seconds == std::vector<double>{2, 3});
  CHECK(row.reason == "run 3 of 3: killed");
}

TEST_CASE("a sweep without measurements has no baseline, and says so for every point") {
  Sweep sweep = sweep_of(Scaling::strong, {1, 2}, {32, 32});
  const ScalingTable table = scaling_table(sweep);
  CHECK(table.baseline == -1);
  CHECK(!table.complete());
  for (const ScalingRow& row : table.rows) CHECK(row.reason == "stopped before its turn");
  CHECK(to_json(sweep, table)["baseline"].is_null());
  CHECK_THAT(to_text(sweep, table), ContainsText("not measured: stopped before its turn"));
}

TEST_CASE("points that train different models have no speed-up, with the reason") {
  Sweep sweep = sweep_of(Scaling::strong, {1, 2}, {32, 32});
  sweep.axes[0].key = "model.layers";
  sweep.runs = {run_of(0, {1}), run_of(1, {2})};
  const ScalingTable table = scaling_table(sweep);
  CHECK(!table.comparable);
  CHECK(std::isnan(table.rows[1].run.speedup));
  CHECK(table.rows[1].run.tokens_per_s == Approx(1024));
  CHECK_THAT(table.formula, ContainsText("model.layers"));
  CHECK(to_text(sweep, table).find("efficiency") == std::string::npos);
}

TEST_CASE("the table names points whose steps vary widely") {
  Sweep sweep = sweep_of(Scaling::strong, {1, 2, 4}, {32, 32, 32});
  sweep.points[0].refused = "no";
  sweep.runs = {run_of(1, {1, 1.1, 1.2, 1.1, 1}), run_of(2, {1, 1.3, 2, 1.5, 1})};
  // The last point's quartiles: 1, 1.3 and 1.5; (1.5 - 1)/1.3 = 38.5 %.
  CHECK_THAT(to_text(sweep, scaling_table(sweep)), ContainsText("steps vary by 38.5 % at plan.data=4"));
  sweep.runs.pop_back();
  CHECK(to_text(sweep, scaling_table(sweep)).find("steps vary") == std::string::npos);
}

TEST_CASE("the batch of weak scaling is a whole number of samples, or there is none") {
  CHECK(weak_batch(32, 4, 1) == 128);
  CHECK(weak_batch(32, 1, 4) == 8);
  CHECK(weak_batch(32, 3, 4) == 24);
  CHECK(weak_batch(6, 3, 4) == -1);
  CHECK(weak_batch(6, 3, 0) == -1);
}

TEST_CASE("every line of the table is as long as its head, except for points without figures, and nothing is cut") {
  Sweep sweep = sweep_of(Scaling::strong, {1, 2, 1024}, {32, 32, 32});
  sweep.points[2].refused = "a long reason that stands there whole";
  sweep.runs = {run_of(0, {123.456}, 99), run_of(1, {0.000012}, 0.00001)};
  const std::string text = to_text(sweep, scaling_table(sweep));
  INFO(text);
  const std::size_t begin = text.find("plan.data  ranks");
  REQUIRE(begin != std::string::npos);
  std::vector<std::string> lines;
  for (std::size_t at = begin; lines.size() < 4;) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  CHECK(lines[1].size() == lines[0].size());
  CHECK(lines[2].size() == lines[0].size());
  CHECK_THAT(lines[1], ContainsText("123.456 s"));
  CHECK_THAT(lines[2], ContainsText("12.0 us"));
  CHECK_THAT(lines[3], ContainsText("not measured: a long reason that stands there whole"));
}

TEST_CASE("JSON has a number for a number, null for what is not known, and every point in its place") {
  Sweep sweep = sweep_of(Scaling::strong, {1, 2}, {32, 32});
  sweep.points[1].refused = "no";
  sweep.runs = {run_of(0, {0.5})};
  const nlohmann::json json = to_json(sweep, scaling_table(sweep));
  CHECK(json["scaling"] == "strong");
  CHECK(json["complete"] == false);
  CHECK(json["points"][0]["keys"]["plan.data"] == 1);
  CHECK(json["points"][0]["step_seconds"] == 0.5);
  CHECK(json["points"][0]["predicted"]["step_seconds"].is_null());
  CHECK(json["points"][0]["reason"].is_null());
  CHECK(json["points"][1]["step_seconds"].is_null());
  CHECK(json["points"][1]["obtained"].is_null());
  CHECK(json["points"][1]["reason"] == "no");
}

TEST_CASE("a recorded sweep reads back the same, and what is missing in a record is named") {
  Sweep sweep = sweep_of(Scaling::weak, {1, 2}, {8, 16});
  sweep.host = "here";
  sweep.clock = ClockDomain::device;
  sweep.points[1].refused = "no";
  SweepRun run = run_of(0, {0.5, 0.25}, 0.125);
  run.clock = ClockDomain::device;
  run.obtained = Obtained::emulated;
  run.peak_bytes = 77;
  const Sweep back = sweep_from(nlohmann::json::parse(recorded(sweep).dump()));
  CHECK(recorded(back) == recorded(sweep));
  CHECK(back.points[1].words() == "plan.data=2");
  CHECK(back.scaling == Scaling::weak);
  const SweepRun run_back = sweep_run_from(nlohmann::json::parse(recorded(run).dump()));
  CHECK(recorded(run_back) == recorded(run));
  CHECK(run_back.step_seconds == run.step_seconds);
  CHECK(std::isnan(run_back.bubble));

  nlohmann::json without = recorded(run), wrong = recorded(run), unknown = recorded(sweep);
  without.erase("step_seconds");
  wrong["point"] = "first";
  unknown["scaling"] = "sideways";
  CHECK_THROWS_WITH(sweep_run_from(without), ContainsText("step_seconds is missing"));
  CHECK_THROWS_WITH(sweep_run_from(wrong), ContainsText("point is of another type"));
  CHECK_THROWS_WITH(sweep_from(unknown), ContainsText("'sideways'"));
  CHECK_THROWS_AS(sweep_from(nlohmann::json(3)), std::invalid_argument);
}
