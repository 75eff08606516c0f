// verify's exit status is its result: 0 equal, 1 different, 3 not shown; and memory is the same in every run.
#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

Ended verify(const Folder& folder, std::vector<std::string> overrides) {
  std::vector<std::string> arguments{"verify", lab("data-parallel"), "--json", "--set"};
  overrides.insert(overrides.end(), {"layers=2", "width=32", "heads=2", "context=16", "vocabulary=64", "data=2",
                                     "global_batch=4", "optimizer=sgd"});
  arguments.insert(arguments.end(), overrides.begin(), overrides.end());
  return engine(folder, std::move(arguments));
}

}  // namespace

TEST_CASE("verify ends with 0 for the same training, 1 for another one, and 3 if neither is proved, and says which") {
  const Folder folder;
  struct Row {
    std::vector<std::string> overrides;
    int status;
    const char* outcome;
  };
  const Row rows[] = {{{"clip=1"}, 0, "equal"},
                      {{"clip=1", "fault.plant=gradient_scale"}, 1, "different"},
                      {{"clip=1e-5"}, 3, "not shown"}};
  for (const Row& row : rows) {
    const Ended ended = verify(folder, row.overrides);
    INFO(ended.out << ended.err);
    CHECK(ended.status == row.status);
    const json found = parse_json(ended.out)["verify"];
    CHECK(found["outcome"] == row.outcome);
    CHECK(found["passed"] == (row.status == 0));
    CHECK(found["reason"].is_null() == (row.status == 0));
  }
}

TEST_CASE("a collective alone is proved against its definition, and the loss of a rank's part is detected") {
  const Folder folder;
  for (const bool lost : {false, true}) {
    std::vector<std::string> arguments{"verify", lab("collectives-eight"), "--json", "--set", "bytes=4096"};
    if (lost) arguments.insert(arguments.end(), {"--set", "fault.plant=lost_part"});
    const Ended ended = engine(folder, arguments);
    INFO(ended.out << ended.err);
    CHECK(ended.status == (lost ? 1 : 0));
    const json found = parse_json(ended.out)["verify"];
    CHECK(found["outcome"] == (lost ? "different" : "equal"));
    CHECK(found["contents"]["operation"] == "all_to_all");
    CHECK(found["contents"]["elements"] == 8 * 1024);
    CHECK(found["reason"].is_null() != lost);
    CHECK(found["losses"].is_null());
  }
}

TEST_CASE("processes under MPI do every collective, and check the result") {
  if (!can_use_mpi()) return;
  const Folder folder;
  for (const char* operation :
       {"broadcast", "scatter", "reduce", "all-reduce", "gather", "all-gather", "reduce-scatter", "all-to-all"})
    for (const char* algorithm : {"auto", "tree"}) {
      const auto run = [&](const std::string& more) {
        return engine(folder, {"run", lab("collectives-eight"), "--comm", "mpi", "--json", "--set", "data=3", "--set",
                               "bytes=5000", "--set", "root=1", "--set", std::string("operation=") + operation, "--set",
                               std::string("collective=") + algorithm, "--set", more});
      };
      const Ended ended = run("steps=2"), failed = run("fault.plant=lost_part");
      INFO(operation << " by " << algorithm << "\n" << ended.err << failed.err);
      CHECK(ended.status == 0);
      CHECK(parse_json(ended.out)["ranks"] == 3);
      CHECK(failed.status == 1);
      CHECK(failed.err.find("by definition") != std::string::npos);
    }
}

TEST_CASE("the peak of memory is the predicted one, to the byte, in every run of a pipeline") {
  const Folder folder;
  for (int i = 0; i < 4; ++i) {
    const Ended ended = engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "3", "--json"}));
    INFO(ended.err);
    REQUIRE(ended.status == 0);
    for (const json& rank : parse_json(ended.out)["memory"])
      for (const char* key : {"parameters", "gradients", "optimizer", "activations", "buffers", "workspace", "peak"}) {
        INFO("rank " << rank["rank"] << ", " << key);
        CHECK(rank[key] == rank["predicted"][key]);
      }
  }
}
