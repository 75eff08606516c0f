// Lessons in another language: translated text in a second file; numbers, answers and plan are only in the English
// file.
#include "engine/lesson/lab/translation.hpp"

#include <fstream>

#include "engine/lesson/lab/check_translation.hpp"
#include "engine/lesson/lab/experiment.hpp"
#include "engine/lesson/lab/judge.hpp"
#include "engine/lesson/lab/lesson_words.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;

namespace {

const char* const english = R"(title = "Small"
[lab]
summary = "Two stages."
text = """
## Read
Half of 8 is 4; see [the view](view:memory?rank=0).

## Run
    … --set micro_batches=16

## Explain
> Answer: 4 of 8.
"""
symbols = { q = "a half" }

[[lab.questions]]
kind = "choice"
ask = "Which one?"
options = ["the first", "the second"]
answer = "the second"
mistakes = [{ near = "the first", because = "It has 8." }]
hint = "Count to 2."

[[lab.questions]]
kind = "order"
ask = "In which order?"
items = ["one", "two", "three"]
mistakes = [{ near = ["two", "one", "three"], because = "One is before two." }]

[[lab.questions]]
ask = "How many?"
answer = 4
tolerance = 1
hint = "Half."
why = "8/2 = 4."
)";

const char* const german = R"(original = "MARK"
title = "Klein"
summary = "Zwei Stufen."
text = """
## Lesen
Die Hälfte von 8 ist 4; siehe [die Ansicht](view:memory?rank=0).

## Ausführen
    … --set micro_batches=16

## Erklären
> Antwort: 4 von 8.
"""
symbols = { q = "eine Hälfte" }

[[question]]
ask = "Welche?"
options = ["die erste", "die zweite"]
mistakes = ["Sie hat 8."]
hint = "Zählen Sie bis 2."

[[question]]
ask = "In welcher Reihenfolge?"
options = ["eins", "zwei", "drei"]
mistakes = ["Eins kommt vor zwei."]

[[question]]
ask = "Wie viele?"
hint = "Die Hälfte."
why = "8/2 = 4."
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

/// A folder with small.toml, and de/small.toml in which MARK is replaced by the original's mark.
struct Files {
  testing::TemporaryDirectory folder;
  std::string file = (folder.path() / "small.toml").string();
  explicit Files(const std::string& translation = german) {
    std::ofstream(file) << english;
    std::filesystem::create_directory(folder.path() / "de");
    std::ofstream(folder.path() / "de" / "small.toml") << replaced(translation, "MARK", mark_of(*read_lab(file)));
  }
  Lab original() const { return *read_lab(file); }
  std::vector<std::string> faults() const {
    return faults_of(*read_lab_translation(translated_file(file, "de")), original());
  }
};

}  // namespace

TEST_CASE("A translation replaces a lesson's words, not its answers") {
  const Files files;
  CHECK(files.faults().empty());
  const Lab lab = in_language(files.original(), "de");
  CHECK(lab.language == "de");
  CHECK(lab.title == "Klein");
  CHECK(lab.original_title == "Small");
  CHECK(lab.symbols.at("q") == "eine Hälfte");
  CHECK(parts_of(lab.text).before.starts_with("## Lesen"));
  CHECK(parts_of(lab.text).run.starts_with("## Ausführen"));
  CHECK(parts_of(lab.text).after.starts_with("## Erklären"));
  // Choices and orders are matched by their positions.
  const Question& choice = lab.questions[0];
  CHECK(std::get<std::string>(*choice.answer) == "die zweite");
  CHECK(judge(choice, Attempt("die zweite"), *known_answer(choice)).accepted());
  CHECK(judge(choice, Attempt("die erste"), *known_answer(choice)).because == "Sie hat 8.");
  const Question& order = lab.questions[1];
  const std::vector<std::string> wrong{"zwei", "eins", "drei"}, right{"eins", "zwei", "drei"};
  CHECK(judge(order, Attempt(right), *known_answer(order)).accepted());
  CHECK(judge(order, Attempt(wrong), *known_answer(order)).because == "Eins kommt vor zwei.");
  CHECK(std::get<double>(*known_answer(lab.questions[2])) == 4);
  // Answers are stored with the original's text, so that they are valid in every language.
  CHECK(std::get<std::string>(to_original(choice, Attempt("die erste"))) == "the first");
  CHECK(std::get<std::string>(from_original(choice, Attempt("the first"))) == "die erste");
  CHECK(original_ask(choice) == "Which one?");
  CHECK(std::get<std::string>(to_original(files.original().questions[0], Attempt("the first"))) == "the first");
}

TEST_CASE("Without a translation, or with one that does not fit, a lesson stays English") {
  const Files files;
  CHECK(in_language(files.original(), "") == files.original());
  CHECK(in_language(files.original(), "fr") == files.original());
  const Files short_one(replaced(german, "\"die erste\", ", ""));
  CHECK(in_language(short_one.original(), "de") == short_one.original());
  const Files unreadable(replaced(german, "title = ", "titel = "));
  CHECK(in_language(unreadable.original(), "de") == unreadable.original());
}

TEST_CASE("The check finds what a translation changes besides words") {
  const auto only_fault = [](const std::string& what, const std::string& with) {
    const std::vector<std::string> faults = Files(replaced(german, what, with)).faults();
    REQUIRE(faults.size() == 1);
    return faults.front();
  };
  CHECK_THAT(only_fault("von 8 ist 4", "von 8 ist 5"), ContainsText("text: numbers are not those of the original"));
  CHECK_THAT(only_fault("view:memory?rank=0", "view:grid?rank=0"), ContainsText("'(view:memory?rank=0)' is missing"));
  CHECK_THAT(only_fault("micro_batches=16", "global_batch=16"), ContainsText("text: commands are not those"));
  CHECK_THAT(only_fault("## Ausführen", "## Los"), ContainsText("'heading that begins the run' is missing"));
  CHECK_THAT(only_fault("> Antwort: ", "> Lösung: "), ContainsText("'folded answer' is missing"));
  CHECK_THAT(only_fault("Sie hat 8.", "Sie hat 9."), ContainsText("question 1: numbers"));
  CHECK_THAT(only_fault("hint = \"Die Hälfte.\"\n", ""), ContainsText("question 3: it is not translated"));
  CHECK_THAT(only_fault("\"die erste\", ", ""), ContainsText("question 1: 1 options; the original has 2"));
  CHECK_THAT(only_fault("\"die erste\"", "\"die zweite\""), ContainsText("two options are 'die zweite'"));
  CHECK_THAT(only_fault("[\"Eins kommt vor zwei.\"]", "[]"),
             ContainsText("question 2: 0 mistakes; the original has 1"));
  CHECK_THAT(only_fault("symbols = { q = \"eine Hälfte\" }\n", ""), ContainsText("the symbol 'q' is not translated"));
}

TEST_CASE("A translation of an older text is detected by the original's hash") {
  const Files files;
  std::ofstream(files.file) << replaced(english, "Two stages.", "Both stages.");
  const std::vector<std::string> faults = files.faults();
  REQUIRE(faults.size() == 1);
  CHECK_THAT(faults.front(), ContainsText("it is of an older text"));
  CHECK_THAT(faults.front(), ContainsText("write original = \"" + mark_of(files.original()) + "\""));
}

TEST_CASE("Glossary and courses are translated in the same way") {
  const Glossary glossary =
      parse_glossary("[[term]]\nname = \"step\"\nalso = [\"steps\"]\nmeans = \"One of 2.\"\n", "g");
  const testing::TemporaryDirectory folder;
  std::filesystem::create_directory(folder.path() / "de");
  const auto write = [&](const std::string& mark, const std::string& of) {
    std::ofstream(folder.path() / "de" / "glossary.toml")
        << "[[term]]\nof = \"" << of << "\"\noriginal = \"" << mark
        << "\"\nname = \"Schritt\"\nalso = [\"Schritte\"]\nmeans = \"Einer von 2.\"\n";
    return faults_of(read_glossary_translation((folder.path() / "de" / "glossary.toml").string()), glossary);
  };
  CHECK(write(mark_of(glossary.terms()[0]), "step").empty());
  const Glossary shown = in_language(glossary, "de", folder.path().string());
  REQUIRE(shown.find("Schritte") != nullptr);
  CHECK(shown.find("Schritt")->means == "Einer von 2.");
  CHECK(shown.find("steps") == nullptr);
  CHECK(in_language(glossary, "", folder.path().string()).find("steps") != nullptr);
  CHECK(write("0", "step").size() == 1);
  CHECK(write("0", "stride").size() == 1);

  const Course course =
      parse_course("title = \"All\"\nsummary = \"Both.\"\n[[section]]\ntitle = \"One\"\nlabs = [\"a\"]\n", "c.toml");
  CourseTranslation words{"de/c.toml", mark_of(course), "Alles", "Beide.", "", {"Eins"}};
  CHECK(faults_of(words, course).empty());
  words.sections.push_back("Zwei");
  CHECK(faults_of(words, course).size() == 1);
}
