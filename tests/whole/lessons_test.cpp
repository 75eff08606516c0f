// Lessons through the program: listed, checked, and exported.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

/// A lesson whose formula agrees with the result of its simulation.
std::string small_lab(const std::string& formula, const std::string& printed) {
  return "title = \"Small\"\n[model]\nlayers = 4\nwidth = 64\nheads = 2\ncontext = 16\nvocabulary = 64\n"
         "[plan]\npipeline = 2\nmicro_batches = 4\nschedule = \"gpipe\"\n[train]\nglobal_batch = 8\n"
         "[lab]\nsummary = \"Small.\"\ntext = \"\"\"\n## Read\nTwo stages. " +
         printed +
         "\n\n## Run\nPress Run.\n\"\"\"\n"
         "[[lab.questions]]\nask = \"What share of the step is bubble?\"\nunit = \"%\"\nanswer_from = "
         "\"bubble.ideal\"\n"
         "formula = \"" +
         formula + "\"\ntolerance = 2\nhint = \"Count slots.\"\nwhy = \"One fifth.\"\n";
}

}  // namespace

TEST_CASE("the list numbers every lab in the natural order, by groups") {
  const Folder folder;
  const json list = only_object(engine(folder, {"lessons", "list", "--json"}));
  CHECK(list["refused"].empty());
  int number = 0;
  for (const json& group : list["groups"])
    for (const json& one : group["labs"]) CHECK(one["number"] == ++number);
  CHECK(number >= 28);
  const Ended words = engine(folder, {"lessons", "list"});
  CHECK(words.status == 0);
  CHECK(has(words.out, list["groups"][0]["title"].get<std::string>() + "\n   1  "));
  CHECK(has(words.out, "natural"));
}

TEST_CASE("no lesson and no course that is installed has a fault") {
  const Folder folder;
  const Ended all = engine(folder, {"lessons", "check"});
  INFO(all.out << all.err);
  CHECK(all.status == 0);
  CHECK(has(all.err, " 0 faults"));
}

TEST_CASE("a lesson without faults ends with status 0, one with a fault with 1 and a line that says what") {
  const Folder folder;
  const std::string good = folder.file("small.toml", small_lab("100 * 1/5", ""));
  const Ended fine = engine(folder, {"lessons", "check", good});
  INFO(fine.out << fine.err);
  CHECK(fine.status == 0);
  CHECK(fine.out.empty());
  CHECK(has(fine.err, "1 lesson, 0 courses and 0 translations checked, 0 faults"));

  const Ended printed =
      engine(folder, {"lessons", "check", folder.file("printed.toml", small_lab("100 * 1/5", "It is 20 %."))});
  CHECK(printed.status == 1);
  CHECK(std::count(printed.out.begin(), printed.out.end(), '\n') == 1);
  CHECK(has(printed.out, "printed.toml:question 1: the text prints the answer before Run: '20%'"));

  const Ended wrong = engine(folder, {"lessons", "check", folder.file("wrong.toml", small_lab("100 * 1/4", ""))});
  CHECK(wrong.status == 1);
  CHECK(has(wrong.out, "wrong.toml:question 1: 23 to 27 % is accepted, which excludes the simulated 20 %"));

  const Ended course = engine(folder, {"lessons", "check",
                                       folder.file("course.toml",
                                                   "title = \"T\"\nsummary = \"S\"\n"
                                                   "[[section]]\ntitle = \"One\"\nlabs = [\"wals\"]\n")});
  CHECK(course.status == 1);
  CHECK(has(course.out, "course.toml:section 'One': there is no lab 'wals'; did you mean 'walls'?"));

  const Ended unread = engine(folder, {"lessons", "check", folder.file("unread.toml", "title = 3")});
  CHECK(unread.status == 1);
  CHECK(has(unread.out, "unread.toml:"));
}

TEST_CASE("a hand-out has pictures and no answers, the instructor's edition has them") {
  const Folder folder;
  const std::string file = folder.file("small.toml", small_lab("100 * 1/5", "")),
                    page = (folder / "small.html").string();
  REQUIRE(engine(folder, {"lessons", "export", file, "-o", page}).status == 0);
  const std::string sheet = content_of(page);
  CHECK(has(sheet, "What share of the step is bubble?"));
  CHECK_FALSE(has(sheet, "One fifth"));
  CHECK(has(sheet, "Time line of a step; simulated"));
  CHECK(has(sheet, "Memory of rank "));
  const Ended answers = engine(folder, {"lessons", "export", file, "--answers"});
  CHECK(has(answers.out, "Answer: 20 %"));
  CHECK(has(answers.out, "One fifth"));
  REQUIRE(engine(folder, {"lessons", "export", file, "--as", "md", "-o", (folder / "small.md").string()}).status == 0);
  CHECK(has(content_of((folder / "small.md").string()), "](small.pictures/small-timeline.svg)"));
  CHECK(has(content_of((folder / "small.pictures/small-memory.svg").string()), "<svg"));
}

TEST_CASE("the whole natural course is a hand-out and a quiz") {
  const Folder folder;
  const json list = only_object(engine(folder, {"lessons", "list", "--json"}));
  const Ended page = engine(folder, {"lessons", "export", "--course", "natural"});
  CHECK(page.status == 0);
  const Ended quiz = engine(folder, {"lessons", "export", "--course", "natural", "--as", "gift"});
  CHECK(quiz.status == 0);
  std::size_t questions = 0, asked = 0;
  for (const json& group : list["groups"])
    for (const json& one : group["labs"]) {
      CHECK(has(page.out, "id=\"" + one["name"].get<std::string>() + "\""));
      questions += one["questions"].get<std::size_t>();
    }
  for (std::size_t at = quiz.out.find("\n::"); at != std::string::npos; at = quiz.out.find("\n::", at + 1)) ++asked;
  CHECK(asked > questions / 2);
  CHECK(asked <= questions);
  CHECK(has(quiz.err, std::to_string(asked) + " questions"));
}

TEST_CASE("the list in German has the translated titles, and says of the others that they are English") {
  const Folder folder;
  const json list = only_object(engine(folder, {"lessons", "list", "--json", "--language", "de"}));
  const json plain = only_object(engine(folder, {"lessons", "list", "--json"}));
  std::map<std::string, std::string> english;
  for (const json& group : plain["groups"])
    for (const json& one : group["labs"]) {
      CHECK(one["language"] == "en");
      english[one["name"]] = one["title"];
    }
  const Ended words = engine(folder, {"lessons", "list", "--language", "de"});
  int translated = 0;
  for (const json& group : list["groups"])
    for (const json& one : group["labs"]) {
      const std::string title = one["title"];
      const bool is_german = one["language"] == "de";
      CHECK(is_german == (title != english[one["name"]]));
      CHECK(has(words.out, "  " + title + (is_german ? "\n" : " (English)\n")));
      translated += is_german ? 1 : 0;
    }
  CHECK(translated >= 6);
}

TEST_CASE("a whole course in German: hand-out, teacher's edition and quiz, with the numbers of the English one") {
  const Folder folder;
  const auto exported = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"lessons", "export", "--course", "first-steps"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = engine(folder, arguments);
    INFO(ended.err);
    CHECK(ended.status == 0);
    CHECK_FALSE(has(ended.err, "not translated"));
    return ended.out;
  };
  const std::string page = exported({"--language", "de"});
  CHECK(has(page, "<html lang=\"de\">"));
  CHECK(has(page, "Welcher Anteil des Schritts ist Leerlauf?"));
  CHECK(has(page, "Zeitleiste eines Schritts; simuliert"));
  const std::string answers = exported({"--language", "de", "--answers", "--as", "md"});
  CHECK(has(answers, "**Antwort: 27.27 %** (4 % mehr oder weniger ist erlaubt"));
  CHECK(has(answers, "**Antwort: Backward**"));
  CHECK(has(answers, "**Für Lehrende.**"));
  for (const std::string& sheet : {page, answers})
    for (const char* word : {"Answer", "Questions", "Hint:", "Why:", "minutes.", "bubble (", "Usual", "Time line"})
      CHECK_FALSE(has(sheet, word));
  // Right options, and numbers with their tolerances, are the original's.
  const std::string german = exported({"--language", "de", "--as", "gift"}), english = exported({"--as", "gift"});
  CHECK(has(german, "\t=Backward"));
  const auto numbers = [](const std::string& quiz) {
    std::vector<std::string> found;
    std::istringstream lines(quiz);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("\t=") && line.find(':') != std::string::npos && line.find("->") == std::string::npos)
        found.push_back(line.substr(0, line.find('#')));
    return found;
  };
  CHECK(numbers(german) == numbers(english));
  CHECK(numbers(german).size() > 20);
}

TEST_CASE("a hand-out names its lessons that are not translated") {
  const Folder folder;
  const Ended ended = engine(folder, {"lessons", "export", "offload", "--language", "de", "--as", "md"});
  CHECK(ended.status == 0);
  CHECK(has(ended.err, "not translated, so in English: offload"));
}

TEST_CASE("unknown labs, courses and languages are refused in one line") {
  const Folder folder;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"lessons", "export", "wals"},
        {"lessons", "export", "--course", "none"},
        {"lessons", "export"},
        {"lessons", "export", "walls", "--as", "pdf"},
        {"lessons", "export", "walls", "-o", "/"},
        {"lessons", "export", "walls", "-o", "/no/such/folder/walls.html"},
        {"lessons", "export", "walls", "--as", "md", "-o", "/proc/walls.md"},
        {"lessons", "list", "--language", "xx"},
        {"lessons"},
        {"lessons", "export", "walls", "--course", "natural"}}) {
    const Ended ended = engine(folder, arguments);
    INFO(ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.out.empty());
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  }
}
