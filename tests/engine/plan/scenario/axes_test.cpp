// The arguments of --over, and the points that they create.
#include "engine/plan/scenario/axes.hpp"

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

using Texts = std::vector<std::string>;

std::string refusal(const Texts& texts) {
  try {
    parse_axes(texts);
  } catch (const ScenarioError& e) {
    return e.what();
  }
  return "";
}

/// "plan.data=1 plan.pipeline=2" of each point.
Texts in_words(const std::vector<std::vector<Override>>& points) {
  Texts words;
  for (const auto& point : points) {
    words.emplace_back();
    for (const Override& given : point)
      words.back() += (words.back().empty() ? "" : " ") + given.key + "=" + given.value;
  }
  return words;
}

}  // namespace

TEST_CASE("an axis is a key and its values, the key by its short name where that is enough") {
  CHECK(parse_axis("plan.data=1,2,4") == Axis{"plan.data", {"1", "2", "4"}});
  CHECK(parse_axis(" data = 1 , 2 ") == Axis{"plan.data", {"1", "2"}});
  CHECK(parse_axis("schedule=gpipe,1f1b") == Axis{"plan.schedule", {"gpipe", "1f1b"}});
  CHECK(parse_axis("stages=\"3,2,2,1\",even") == Axis{"plan.stages", {"\"3,2,2,1\"", "even"}});
}

TEST_CASE("an invalid axis is refused in one line that repeats what was typed") {
  struct Row {
    Texts typed;
    std::string begins;
    Texts expected_text;
  };
  const std::vector<Row> rows{
      {{"plan.data"}, "--over plan.data: ", {"no '='", "plan.data=1,2,4"}},
      {{"=1,2"}, "--over =1,2: ", {"no key"}},
      {{"plan.dta=1,2"}, "--over plan.dta=1,2: ", {"unknown key 'dta'", "did you mean 'data'?"}},
      {{"pipline=1,2"}, "--over pipline=1,2: ", {"unknown key 'pipline'", "did you mean 'pipeline'?"}},
      {{"seed=1,2"}, "--over seed=1,2: ", {"data.seed and train.seed"}},
      {{"plan.data="}, "--over plan.data=: ", {"no values for plan.data"}},
      {{"plan.data=1,,2"}, "--over plan.data=1,,2: ", {"empty value"}},
      {{"plan.data=1,two"}, "--over plan.data=1,two: ", {"data is a string", "it takes an integer"}},
      {{"plan.data=1,2.5"}, "--over plan.data=1,2.5: ", {"data is a", "it takes an integer"}},
      {{"plan.data=1,2,1"}, "--over plan.data=1,2,1: ", {"the value 1", "twice"}},
      {{"plan.data=1,2", "data=4"}, "--over data=4: ", {"plan.data is swept twice", "one list"}},
  };
  for (const Row& row : rows) {
    const std::string line = refusal(row.typed);
    INFO(line);
    CHECK(line.rfind(row.begins, 0) == 0);
    for (const std::string& part : row.expected_text) CHECK(line.find(part) != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
  }
}

TEST_CASE("a value of the right type that no plan can have is a point, too: the plan's checks judge it") {
  CHECK(refusal({"plan.data=1,-3", "plan.schedule=2f2b"}).empty());
}

TEST_CASE("two axes make all combinations, the last one changing first") {
  CHECK(in_words(combinations(parse_axes({"plan.pipeline=1,2", "plan.micro_batches=4,8,16"}))) ==
        Texts{"plan.pipeline=1 plan.micro_batches=4", "plan.pipeline=1 plan.micro_batches=8",
              "plan.pipeline=1 plan.micro_batches=16", "plan.pipeline=2 plan.micro_batches=4",
              "plan.pipeline=2 plan.micro_batches=8", "plan.pipeline=2 plan.micro_batches=16"});
  CHECK(in_words(combinations(parse_axes({"plan.data=1,2,4"}))) == Texts{"plan.data=1", "plan.data=2", "plan.data=4"});
}
