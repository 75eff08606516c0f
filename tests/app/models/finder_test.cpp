// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/finder.hpp"

#include <algorithm>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

/// Four stages under 1F1B, with every rank's program.
struct Compiled {
  StepProgram step = compile(read_scenario(test::source_folder() + "/scenarios/labs/pipeline-1f1b.toml"));
  RunPlan plan{step.scenario, step.grid};
  ProgramOf program_of = [this](std::int32_t rank) {
    return std::make_shared<const RankProgram>(step.program_for(rank));
  };
  Findings find(std::string_view query, std::size_t most = 1000) const {
    return find_in(program_of, plan, query, most);
  }
};

std::size_t count(const Findings& findings, Found::Kind kind) {
  return static_cast<std::size_t>(std::count_if(findings.found.begin(), findings.found.end(),
                                                [kind](const Found& found) { return found.kind == kind; }));
}

}  // namespace

TEST_CASE("words are found in any order and case, and nothing is found without a word") {
  CHECK(has_words("B:c2:m3 · rank 2 backward", "BACKWARD rank"));
  CHECK_FALSE(has_words("B:c2:m3 · rank 2 backward", "backward forward"));
  const Compiled compiled;
  CHECK(compiled.find("").found.empty());
  CHECK(compiled.find(" \t ").found.empty());
}

TEST_CASE("an op is found by its token, by what it is, and by its rank") {
  const Compiled compiled;
  const Findings by_token = compiled.find("F:c2:m3:b5.qkv");
  REQUIRE(count(by_token, Found::Kind::op) == 1);
  CHECK(by_token.found.front().rank == 2);
  CHECK(to_token(by_token.found.front().op) == "F:c2:m3:b5.qkv");
  // Each of eight micro-batches is received once by the second stage.
  const Findings by_words = compiled.find("receive of activations rank 1");
  std::size_t received = 0;
  for (const Found& found : by_words.found)
    received +=
        found.kind == Found::Kind::op && found.rank == 1 && found.op.fields().purpose == Purpose::pipeline_forward;
  CHECK(received == 8);
}

TEST_CASE("a rank is found by its number and by its stage; a tensor by its name, with the first op that uses it") {
  const Compiled compiled;
  const Findings stage = compiled.find("stage 3");
  REQUIRE(count(stage, Found::Kind::rank) == 1);
  CHECK(stage.found.front().rank == 3);
  const Findings weight = compiled.find("h.3.mlp.c_fc.weight parameters");
  REQUIRE(count(weight, Found::Kind::tensor) >= 1);
  const Found& tensor = weight.found.front();
  CHECK(tensor.rank == 1);  // blocks 2 and 3 are stage 1
  CHECK(tensor.bytes == 128 * 512 * 4);
  REQUIRE(tensor.op.valid());
  CHECK(to_token(tensor.op).find("b3") != std::string::npos);
}

TEST_CASE("a list that is cut reports that there is more") {
  const Compiled compiled;
  const Findings some = compiled.find("forward", 10);
  CHECK(count(some, Found::Kind::op) == 10);
  CHECK_FALSE(some.complete);
  CHECK(compiled.find("F:c2:m3:b5.qkv").complete);
}
