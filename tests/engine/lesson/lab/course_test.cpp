// Courses, the list of labs, and the glossary.
#include "engine/lesson/lab/course.hpp"

#include <cstdlib>
#include <fstream>

#include "engine/lesson/lab/glossary.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;

namespace {

template <class Read>
std::string error_from(Read read) {
  try {
    read();
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("A course is sections of labs, in order") {
  const Course course = parse_course(
      "title = \"All\"\nsummary = \"Everything.\"\n[[section]]\ntitle = \"One\"\nlabs = [\"b\", \"a\"]\n"
      "[[section]]\ntitle = \"Two\"\nlabs = [\"c\"]\n",
      "courses/all.toml");
  CHECK(course.name() == "all");
  CHECK(course.labs() == std::vector<std::string>{"b", "a", "c"});
  CHECK(error_from([] { parse_course("title = \"x\"\nsummary = \"y\"\n", "c.toml"); }) ==
        "c.toml:1:1: a course without sections; write [[section]] with title and labs");
  CHECK(error_from([] { parse_course("titel = \"x\"\n", "c.toml"); }).find("c.toml:1:1") == 0);
}

TEST_CASE("A term is found by its name, its other forms and its symbol, and defined once") {
  const Glossary glossary = parse_glossary(
      "[[term]]\nname = \"micro-batch\"\nalso = [\"micro-batches\"]\nsymbol = \"m\"\nmeans = \"A part of a batch.\"\n"
      "[[term]]\nname = \"stage\"\nsymbol = \"M\"\nmeans = \"A part of the layers.\"\nsource = \"Huang et al. 2019\"\n",
      "g.toml");
  REQUIRE(glossary.find("Micro-Batches") != nullptr);
  CHECK(glossary.find("m")->name == "micro-batch");
  CHECK(glossary.find("M")->name == "stage");
  CHECK(glossary.find("rank") == nullptr);
  CHECK(error_from([] {
          parse_glossary("[[term]]\nname = \"a\"\nmeans = \"x\"\n[[term]]\nname = \"A\"\nmeans = \"y\"\n", "g.toml");
        }) == "g.toml:4:1: 'A' is defined twice; keep one of the two");
}

TEST_CASE("A person's own labs are in the list, in a group of their own, and one that is broken is named") {
  const testing::TemporaryDirectory folder;
  std::filesystem::create_directories(folder.path() / "labs");
  std::ofstream(folder.path() / "labs" / "own.toml")
      << "title = \"My own\"\n[lab]\nsummary = \"One sentence.\"\ntext = \"Words.\"\n";
  std::ofstream(folder.path() / "labs" / "broken.toml") << "title = \"Broken\"\n[lab]\nsummary = 4\n";
  setenv("RANKSCOPE_RESOURCES", folder.path().c_str(), 1);
  const Library library = read_library();
  unsetenv("RANKSCOPE_RESOURCES");
  REQUIRE(library.lab("own") != nullptr);
  CHECK(library.lab("own")->title == "My own");
  REQUIRE(library.groups.size() >= 1);
  CHECK(library.groups.back().title == "Other labs");
  REQUIRE(library.refused.size() == 1);
  CHECK(library.refused[0].find("broken.toml:3:1: summary is an integer") != std::string::npos);
}
