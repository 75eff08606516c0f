// The installed lessons, courses and terms.
#include <set>

#include "engine/lesson/lab/course.hpp"
#include "engine/lesson/lab/glossary.hpp"
#include "engine/plan/scenario/resources.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("every lab is in the natural order, once, and is read without complaint") {
  const Library library = read_library();
  CHECK(library.refused == std::vector<std::string>{});
  const Course* natural = library.course(natural_course);
  REQUIRE(natural != nullptr);
  CHECK(library.courses.front().name() == natural_course);
  const std::vector<std::string> order = natural->labs();
  CHECK(std::set<std::string>(order.begin(), order.end()).size() == order.size());
  CHECK(library.labs().size() == order.size());
  CHECK(library.labs().size() == resource_files("labs").size());
  for (std::size_t i = 0; i < order.size(); ++i) CHECK(library.labs()[i]->name() == order[i]);
}

TEST_CASE("courses and lessons name existing lessons, and a lesson's prerequisites precede it") {
  const Library library = read_library();
  for (const Course& course : library.courses) {
    INFO(course.file);
    for (const std::string& name : course.labs()) {
      INFO(name);
      CHECK(library.lab(name) != nullptr);
    }
  }
  std::set<std::string> before;
  for (const Lab* lab : library.labs()) {
    INFO(lab->file);
    for (const std::string& name : lab->needs) {
      INFO(name);
      CHECK(before.count(name) == 1);
    }
    before.insert(lab->name());
  }
}

TEST_CASE("labs have lessons in five parts, and questions") {
  for (const Lab& lab : all_labs()) {
    INFO(lab.file);
    CHECK(!lab.questions.empty());
    std::size_t last = 0;
    for (const char* part : {"## Read", "## Predict", "## Run", "## Compare", "## Explain"}) {
      const std::size_t at = lab.text.find(part);
      REQUIRE(at != std::string::npos);
      CHECK(at >= last);
      last = at;
    }
  }
}

TEST_CASE("a term's lesson exists") {
  const Library library = read_library();
  const Glossary glossary = read_glossary();
  for (const Term& term : glossary.terms()) {
    INFO(term.name);
    CHECK((term.see.empty() || library.lab(term.see) != nullptr));
  }
}
