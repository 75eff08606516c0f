// Exit statuses, as a job script sees them. Those of stopped runs and lost ranks: trouble_test.cpp.
#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("--help and the manual have the program's own table of exit statuses") {
  const Folder folder;
  const std::string manual = content_of(source_folder() + "/resources/manual/cluster.md");
  const std::vector<std::vector<std::string>> all_help{{"--help"}, {"run", "--help"}, {"simulate", "--help"}};
  for (const auto& arguments : all_help) {
    const Ended help = engine(folder, arguments);
    CHECK(help.status == status::done);
    for (const status::Row& row : status::table) {
      CHECK_THAT(help.out, ContainsText(fmt::format("{:>2}  {:<15}  {}\n", row.number, row.name, row.meaning)));
      CHECK_THAT(manual, ContainsText(fmt::format("\n| {} | {} | {} |\n", row.number, row.name, row.meaning)));
    }
  }
}

TEST_CASE("no two exit statuses are equal, and none has a meaning in shells or in sysexits.h") {
  for (std::size_t i = 0; i < status::table.size(); ++i) {
    CHECK(status::table[i].number < 64);
    if (i > 0) CHECK(status::table[i - 1].number < status::table[i].number);
  }
}

TEST_CASE(
    "plan and simulate end with a status of their own where a device has too little memory, and print the result") {
  const Folder folder;
  const std::string command = GENERATE(as<std::string>{}, "plan", "simulate");
  INFO(command);
  const auto predicted = [&](const std::string& bytes) {
    return engine(folder, {command, lab("pipeline-1f1b"), "--json", "--set", "cluster.memory_bytes=" + bytes});
  };
  const Ended large = predicted("80e9"), small = predicted("1e6");
  CHECK(large.status == status::done);
  CHECK(only_object(large)["device_memory"]["fits"] == true);
  CHECK(small.status == status::does_not_fit);
  CHECK(only_object(small)["device_memory"]["fits"] == false);
  CHECK(small.err.empty());
}
