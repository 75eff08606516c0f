// rankscope-engine sweep, as a user starts it: every point really runs, and each that cannot run has its reason.
#include <signal.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

std::vector<std::string> small_sweep(std::vector<std::string> arguments, const std::string& name = "data-parallel") {
  arguments.insert(arguments.begin(), {"sweep", lab(name)});
  return with_small_model(std::move(arguments));
}

}  // namespace

TEST_CASE("a strong sweep over data parallelism runs each point, and its figures fit together") {
  const Folder folder;
  const std::string trace = (folder / "sweep.mcap").string();
  const Ended ended = engine(
      folder, small_sweep({"--over", "plan.data=1,2", "--steps", "6", "--repeat", "2", "--record", trace, "--json"}));
  CHECK(ended.status == 0);
  CHECK(ended.err.empty());
  const json sweep = only_object(ended);
  CHECK(sweep["scaling"] == "strong");
  CHECK(sweep["complete"] == true);
  CHECK(sweep["baseline"]["words"] == "plan.data=1, 1 rank: the first point");
  REQUIRE(sweep["points"].size() == 2);
  const double tokens = 32 * 16;
  for (std::size_t i = 0; i < 2; ++i) {
    const json& point = sweep["points"][i];
    INFO(to_text(point));
    const auto n = static_cast<double>(i + 1);
    CHECK(point["keys"] == json{{"plan.data", i + 1}});
    CHECK(point["ranks"] == i + 1);
    CHECK(point["global_batch"] == 32);
    CHECK(point["clock"] == sweep["clock"]);
    CHECK(point["obtained"] == (sweep["clock"] == "wall" ? "measured" : "emulated"));
    CHECK(point["runs"] == 2);
    CHECK(point["steady_steps"] == 2 * 5);
    CHECK(point["run_step_seconds"].size() == 2);
    const double seconds = point["step_seconds"];
    CHECK(seconds > 0);
    CHECK(point["step_seconds_quartiles"][0].get<double>() <= seconds);
    CHECK(point["step_seconds_quartiles"][1].get<double>() >= seconds);
    CHECK(point["tokens_per_s"].get<double>() == Approx(tokens / seconds));
    CHECK(point["tokens_per_s_per_rank"].get<double>() == Approx(tokens / seconds / n));
    const double first = sweep["points"][0]["step_seconds"];
    CHECK(point["speedup"].get<double>() == Approx(first / seconds));
    CHECK(point["efficiency"].get<double>() == Approx(first / seconds / n));
    CHECK(point["predicted"]["step_seconds"].get<double>() > 0);
    CHECK(point["predicted"]["efficiency"].get<double>() > 0);
    CHECK(point["bubble"].get<double>() >= 0);
    CHECK(point["mfu"].get<double>() > 0);
    CHECK(point["peak_bytes"].get<double>() > 0);
    CHECK(point["reason"].is_null());
  }
  CHECK(sweep["points"][0]["exposed"] == 0.0);
  CHECK(folder.sessions().empty());

  // The recording has the same values, to the last digit.
  const Ended stats = trace_tool(folder, {"stats", trace, "--json"});
  CHECK(stats.status == 0);
  CHECK(only_object(stats) == sweep);
  CHECK_THAT(trace_tool(folder, {"info", trace}).out, ContainsText("/rankscope/sweep/run"));
}

TEST_CASE("under weak scaling the batch grows with the ranks and the efficiency is T1/Tn") {
  const Folder folder;
  const json sweep = only_object(
      engine(folder, small_sweep({"--over", "data=1,2", "--weak", "--steps", "3", "--clock", "device", "--json"})));
  CHECK(sweep["scaling"] == "weak");
  CHECK(sweep["clock"] == "device");
  CHECK(sweep["points"][1]["global_batch"] == 64);
  CHECK(sweep["points"][1]["efficiency"].get<double>() ==
        Approx(sweep["points"][0]["step_seconds"].get<double>() / sweep["points"][1]["step_seconds"].get<double>()));
}

TEST_CASE("an invalid point is a row with its reason, and the sweep continues with the others") {
  const Folder folder;
  const Ended ended = engine(folder, small_sweep({"--over", "plan.data=9,2", "--steps", "3", "--json"}));
  CHECK(ended.status == 1);
  const json sweep = only_object(ended);
  CHECK(sweep["complete"] == false);
  CHECK(sweep["baseline"]["words"] == "plan.data=2, 2 ranks: the first point that was measured");
  REQUIRE(sweep["points"].size() == 2);
  CHECK_THAT(sweep["points"][0]["reason"].get<std::string>(), ContainsText("plan.data=9: global_batch 32 cannot be"));
  CHECK(sweep["points"][0]["step_seconds"].is_null());
  CHECK(sweep["points"][1]["reason"].is_null());
  CHECK(sweep["points"][1]["step_seconds"].get<double>() > 0);
  CHECK(sweep["points"][1]["efficiency"] == 1.0);
}

TEST_CASE("a point whose rank is killed is a row with the rank's name, and the sweep continues") {
  const Folder folder;
  const Ended ended = engine(folder, small_sweep({"--over", "plan.data=4,8,2", "--set", "fault.kill_rank=3", "--set",
                                                  "fault.kill_step=2", "--steps", "4"}));
  INFO(ended.out);
  CHECK(ended.in_time);
  CHECK(ended.status == 1);
  const std::string words = "not measured: rank 3 ";
  const std::size_t first = ended.out.find(words);
  REQUIRE(first != std::string::npos);
  CHECK(ended.out.find(words, first + 1) != std::string::npos);
  CHECK_THAT(ended.out, ContainsText("not measured: ") && ContainsText("kill_rank is 3"));
  CHECK_THAT(ended.out, ContainsText("none: no point was measured"));
  CHECK_THAT(ended.err, ContainsText("2 of 2: plan.data=8: rank 3 "));
  CHECK(folder.sessions().empty());
  CHECK(folder.processes().empty());
}

TEST_CASE("an invalid sweep is refused in one line before anything starts, and an older recording is kept") {
  const Folder folder;
  const std::string older = folder.file("older.mcap", "measured yesterday");
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows{
      {{}, "no values to sweep over"},
      {{"--over", "plan.data="}, "no values"},
      {{"--over", "plan.dta=1"}, "did you mean 'data'?"},
      {{"--over", "plan.data=1,x"}, "it takes an integer"},
      {{"--over", "plan.data=1", "--over", "data=2"}, "swept twice"},
      {{"--over", "plan.data=33"}, "cannot run"},
      {{"--over", "plan.data=1", "--repeat", "0"}, "--repeat"},
      {{"--over", "plan.data=1", "--device", "sleep", "--clock", "device"}, "use --clock wall"},
  };
  for (const auto& [arguments, says] : rows) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--record", older});
    const Ended ended = engine(folder, small_sweep(all));
    INFO(ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.out.empty());
    CHECK(ended.err.find(says) != std::string::npos);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    CHECK(std::filesystem::file_size(older) == 18);
  }
}

TEST_CASE("a sweep that is interrupted keeps what it has measured, and says what it has not") {
  const Folder folder;
  const std::string trace = (folder / "sweep.mcap").string();
  Process sweep(
      folder,
      engine_command(small_sweep({"--over", "plan.data=1,2", "--repeat", "500", "--steps", "3", "--record", trace})));
  REQUIRE(!sweep.line_of_errors("3 of 1000: ", a_minute).empty());
  sweep.signal(SIGINT);
  const Ended ended = sweep.wait(a_minute);
  INFO(ended.err);
  INFO(ended.out);
  CHECK(ended.in_time);
  CHECK(ended.status == status::stopped);
  CHECK_THAT(ended.err, ContainsText("stopped by request"));
  CHECK_THAT(ended.out, ContainsText("strong scaling"));
  CHECK(folder.sessions().empty());
  CHECK(folder.processes().empty());
  const json stats = only_object(trace_tool(folder, {"stats", trace, "--json"}));
  CHECK(stats["points"][0]["runs"].get<int>() >= 2);
  CHECK(stats["points"][1]["runs"].get<int>() >= 1);
}
