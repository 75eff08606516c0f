#include "engine/lesson/lab/lab.hpp"

#include <string>

#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

const std::string good = R"(title = "A lab"
[lab]
order = 3
summary = "One sentence."
text = """
## Read
Words.
"""
[[lab.questions]]
ask = "How much is idle?"
unit = "%"
answer_from = "bubble.measured"
tolerance = 3
why = "3/11"
[[lab.questions]]
ask = "How many bytes?"
answer_from = "traffic.data_gradient.bytes_per_rank"
tolerance = 0.5
unit = "MiB"
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string error_of(const std::string& text) {
  try {
    parse_lab(text, "lab.toml");
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a lesson is read with its questions") {
  const auto lab = parse_lab(good, "lab.toml");
  REQUIRE(lab.has_value());
  CHECK(lab->title == "A lab");
  CHECK(lab->file == "lab.toml");
  CHECK(lab->text == "## Read\nWords.\n");
  REQUIRE(lab->questions.size() == 2);
  CHECK(lab->questions[0].answer_from == "bubble.measured");
  CHECK(lab->questions[0].scale == 100);
  CHECK(lab->questions[0].tolerance == 3);
  CHECK(lab->questions[0].why == "3/11");
  CHECK(lab->questions[1].scale == Approx(1.0 / 1048576));
  CHECK(!parse_lab("title = \"no lesson\"\n", "x.toml").has_value());
}

TEST_CASE("the scenario is read whatever its lesson") { CHECK(parse_scenario(good, "lab.toml").plan == PlanSpec{}); }

TEST_CASE("a lesson that cannot be taught is refused with its place") {
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {
      {replaced(good, "order = 3", "viev = \"grid\""),
       "lab.toml:3:1: unknown key 'viev' in [lab]; did you mean 'view'?"},
      {replaced(good, "summary = \"One sentence.\"\n", ""),
       "lab.toml:2:2: the key 'summary' is missing in [lab]; give a string"},
      {replaced(good, "bubble.measured", "bubble.measurd"),
       "lab.toml:12:1: the report has no 'bubble.measurd'; give one of its values, such as \"bubble.measured\""},
      {replaced(good, "\"%\"", "\"furlong\""),
       "lab.toml:11:1: unknown unit 'furlong'; known: %, ms, s, KiB, MiB, GFLOP/s, nats and steps"},
      {replaced(good, "tolerance = 3", "tolerance = 0"),
       "lab.toml:13:1: a prediction is never exact; give a tolerance greater than 0, in the question's unit"},
      {replaced(good, "tolerance = 3", "tolerance = 3\nmost = 9"),
       "lab.toml:14:1: most is the top of what one draws on, and 'bubble.measured' is one number; remove it, or ask "
       "for a value of each, such as \"memory.*.activations\""},
      {replaced(good, "ask = \"How much is idle?\"", "ask = 4"), "lab.toml:10:1: ask is an integer; it takes a string"},
      {"lab = 4\n", "lab.toml:1:1: lab is an integer; it is a table: write [lab]"},
  };
  for (const Row& row : rows) CHECK(error_of(row.text) == row.message);
}

TEST_CASE("a question may be about optimizers on a surface, and says on which and at which rates") {
  const std::string walked = R"(title = "Paths"
[lab]
summary = "One sentence."
text = "Words."
view = "paths"
[[lab.questions]]
ask = "From which step on?"
unit = "steps"
paths = { surface = "ravine", condition = 40, rates = { momentum = 0.01 }, steps = 80 }
answer_from = "paths.sgd.reached"
tolerance = 5
)";
  const auto lab = parse_lab(walked, "lab.toml");
  REQUIRE(lab.has_value());
  CHECK(lab->view == "paths");
  REQUIRE(lab->questions.size() == 1);
  const PathRequest expected{.surface = "ravine",
                             .condition = 40,
                             .optimizers = {"sgd", "momentum"},
                             .rates = {{"momentum", 0.01}},
                             .steps = 80};
  CHECK(lab->questions[0].paths == expected);
  CHECK(lab->questions[0].scale == 1);
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {
      {replaced(walked, "\"ravine\"", "\"hill\""),
       "lab.toml:9:11: unknown surface 'hill'; known: ravine, saddle, two-minima, rosenbrock, beale"},
      {replaced(walked, "momentum = 0.01", "momentun = 0.01"),
       "lab.toml:9:57: unknown optimizer 'momentun'; did you mean 'momentum'?"},
      {replaced(walked, "momentum = 0.01", "momentum = 0"),
       "lab.toml:9:57: momentum has a rate that is not positive; give one greater than 0"},
      {replaced(walked, "condition = 40", "condition = 0"),
       "lab.toml:9:11: a ravine's condition number is from 1 to 1e+06, not 0"},
      {replaced(walked, "condition = 40", "conditoin = 40"),
       "lab.toml:9:31: unknown key 'conditoin' in paths; did you mean 'condition'?"},
      {replaced(walked, "paths.sgd.reached", "bubble.measured"),
       "lab.toml:10:1: paths have no 'bubble.measured'; give one of their values, such as \"paths.sgd.reached\""},
      {replaced(walked, "paths = {", "# paths = {"),
       "lab.toml:10:1: 'paths.sgd.reached' belongs to optimizers on a surface; add them, such as paths = { surface = "
       "\"ravine\", rates = { sgd = 0.1 } }"},
  };
  for (const Row& row : rows) CHECK(error_of(row.text) == row.message);
}

TEST_CASE("the values a question may ask for are those of the report") {
  for (const char* path :
       {"bubble.ideal", "bubble_span.predicted", "time.data", "mfu", "memory.0.activations", "memory.12.peak",
        "traffic.pipeline_forward.count", "traffic.data_gradient.bytes_per_rank", "memory.*.peak", "steps.*.loss"})
    CHECK(is_report_value(path));
  for (const char* path :
       {"", "bubble", "time.fun", "memory.x.peak", "steps.3.loss", "steps.*.fun", "traffic.*.count", "memory..peak",
        "memory.peak", "memory.0.rank", "traffic.none.count", "traffic.gossip.count", "bubble.measured.x"})
    CHECK(!is_report_value(path));
}
