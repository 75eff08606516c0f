#include "engine/step/facts.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("the facts of an imported rank survive their text form") {
  StepFacts facts;
  facts.rank = 3;
  facts.lanes[observed_lane(LaneUse::compute, 0)] = "stream 7";
  facts.lanes[observed_lane(LaneUse::host, 2)] = "thread 4711 (autograd)";
  facts.groups[0] = {"default pg", {0, 1, 2, 3}};
  facts.groups[7] = {"", {5}};
  facts.names[4] = {"- aten::add<float, 4>(int) - ", -1};
  facts.names[9] = {"all_reduce", 0};
  CHECK(parse_facts(to_text(facts)) == facts);
  CHECK(is_facts(to_text(facts)));
  facts.names[4].text = "two\nlines";
  CHECK(parse_facts(to_text(facts)).names.at(4).text == "two lines");
}

TEST_CASE("an op's name and group are found by its id") {
  StepFacts facts;
  facts.groups[0] = {"default_pg", {0, 1}};
  facts.names[9] = {"all_reduce", 0};
  facts.names[2] = {"aten::mm", -1};
  const OpId reduce =
      OpId::of_observed({OpKind::all_reduce, Purpose::none, observed_lane(LaneUse::communication, 0), 9, 4});
  const OpId product = OpId::of_observed({OpKind::forward, Purpose::none, observed_lane(LaneUse::compute, 0), 2, 0});
  CHECK(facts.name_of(reduce)->text == "all_reduce");
  CHECK(facts.group_of(reduce)->ranks == std::vector<int>{0, 1});
  CHECK(facts.name_of(product)->text == "aten::mm");
  CHECK(facts.group_of(product) == nullptr);
  CHECK(facts.name_of(*parse_token("F:c0:m0")) == nullptr);
}

TEST_CASE("damaged facts are refused with their line") {
  for (const auto& [text, why] : {std::pair{"", "line 1: there is no text"},
                                  {"rankscope-facts 2\n", "line 1: facts begin with 'rankscope-facts 1'"},
                                  {"rankscope-facts 1\nrank x\n", "line 2: 'x' is not a rank from 0"},
                                  {"rankscope-facts 1\nlane 3 compute\n", "line 2: '3' is not a lane from 16"},
                                  {"rankscope-facts 1\ngroup 0 0,1 all\n", "line 2: a group has ranks"},
                                  {"rankscope-facts 1\nname 0 zero text\n", "line 2: 'zero' is not a group"},
                                  {"rankscope-facts 1\n\nop F:c0\n", "line 3: 'op' is no item of facts"}}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_facts(text), ContainsText(why));
  }
}
