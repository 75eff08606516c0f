#include "engine/lesson/lab/translation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "engine/lesson/lab/fields.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

/// FNV-1a of texts; each ends with a byte that no text contains.
class Mark {
 public:
  void add(std::string_view text) {
    for (const char letter : text) add_byte(static_cast<unsigned char>(letter));
    add_byte(0xff);
  }
  std::string words() const { return fmt::format("{:016x}", hash_); }

 private:
  void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 1099511628211ull; }
  std::uint64_t hash_ = 14695981039346656037ull;
};

bool exists(const std::string& file) {
  std::error_code none;
  return std::filesystem::is_regular_file(file, none);
}

/// The keys that translations of labs and of courses share.
void read_head(Fields& fields, const std::string& file, TranslationHead& head) {
  const std::string at = file + ":1:1";
  head.file = file;
  head.original = fields.text("original", at, true);
  head.title = fields.text("title", at, true);
  head.summary = fields.text("summary", at, true);
  head.teacher = fields.text("teacher", at, false);
}

QuestionTranslation question_of(const document::Table& table, const std::string& at) {
  Fields fields(table, "[[question]]");
  QuestionTranslation question;
  question.ask = fields.text("ask", at, true);
  question.hint = fields.text("hint", at, false);
  question.why = fields.text("why", at, false);
  question.options = fields.texts("options");
  question.mistakes = fields.texts("mistakes");
  fields.refuse_others();
  return question;
}

/// The option of `to` at the index that `word` has in `from`; `word` itself if it is not in `from`.
std::string at_same_place(const std::string& word, const std::vector<std::string>& from,
                          const std::vector<std::string>& to) {
  const auto found = std::find(from.begin(), from.end(), word);
  const auto place = static_cast<std::size_t>(found - from.begin());
  return place < to.size() ? to[place] : word;
}

/// An answer, or its target: options and items by index, anything else unchanged.
template <class Words>
Words renamed(Words words, const std::vector<std::string>& from, const std::vector<std::string>& to) {
  if (from.empty() || to.empty()) return words;  // not a translated question
  if (auto* option = std::get_if<std::string>(&words)) *option = at_same_place(*option, from, to);
  if (auto* items = std::get_if<std::vector<std::string>>(&words))
    for (std::string& item : *items) item = at_same_place(item, from, to);
  return words;
}

void translate(Question& question, const QuestionTranslation& words) {
  question.original_ask = question.ask;
  question.original_options = question.options;
  question.ask = words.ask;
  question.hint = words.hint;
  question.why = words.why;
  question.options = words.options;
  if (question.answer) question.answer = renamed(*question.answer, question.original_options, question.options);
  for (std::size_t i = 0; i < question.mistakes.size(); ++i) {
    question.mistakes[i].near = renamed(question.mistakes[i].near, question.original_options, question.options);
    question.mistakes[i].because = words.mistakes[i];
  }
}

/// The parsed translation; a file that cannot be read counts as missing: `lessons check` reports it.
template <class Read>
auto read_or_none(Read read, const std::string& file) -> decltype(read(file)) {
  try {
    return read(file);
  } catch (const ScenarioError&) {
    return {};
  }
}

}  // namespace

std::string translated_file(const std::string& file, const std::string& language) {
  const std::filesystem::path path(file);
  return (path.parent_path() / language / path.filename()).string();
}

std::optional<LabTranslation> read_lab_translation(const std::string& file) {
  if (!exists(file)) return std::nullopt;
  const document::Table root = document::parse_file(file);
  Fields fields(root, "a translation");
  LabTranslation lab;
  read_head(fields, file, lab);
  lab.text = fields.text("text", lab.file + ":1:1", true);
  if (const document::Table* symbols = fields.table("symbols", "{ M = \"bewegte Bytes\" }")) {
    Fields own(*symbols, "[symbols]");
    for (const document::Item& symbol : *symbols) lab.symbols[symbol.key] = own.text(symbol.key, symbol.at, true);
  }
  for (const auto& [table, place] : fields.tables("question")) lab.questions.push_back(question_of(*table, place));
  fields.refuse_others();
  return lab;
}

std::optional<CourseTranslation> read_course_translation(const std::string& file) {
  if (!exists(file)) return std::nullopt;
  const document::Table root = document::parse_file(file);
  Fields fields(root, "a course's translation");
  CourseTranslation course;
  read_head(fields, file, course);
  course.sections = fields.texts("sections");
  fields.refuse_others();
  return course;
}

std::vector<TermTranslation> read_glossary_translation(const std::string& file) {
  std::vector<TermTranslation> terms;
  if (!exists(file)) return terms;
  const document::Table root = document::parse_file(file);
  Fields fields(root, "the glossary's translation");
  for (const auto& [table, at] : fields.tables("term")) {
    Fields own(*table, "[[term]]");
    TermTranslation& term = terms.emplace_back();
    term.at = at;
    term.of = own.text("of", at, true);
    term.original = own.text("original", at, true);
    term.name = own.text("name", at, true);
    term.also = own.texts("also");
    term.means = own.text("means", at, true);
    own.refuse_others();
  }
  fields.refuse_others();
  return terms;
}

std::string mark_of(const Lab& lab) {
  Mark mark;
  for (const std::string* text : {&lab.title, &lab.summary, &lab.text, &lab.teacher}) mark.add(*text);
  for (const auto& [symbol, means] : lab.symbols) mark.add(symbol + "=" + means);
  for (const Question& question : lab.questions) {
    for (const std::string* text : {&question.ask, &question.hint, &question.why}) mark.add(*text);
    for (const std::string& option : question.options) mark.add(option);
    for (const Mistake& mistake : question.mistakes) mark.add(mistake.because);
  }
  return mark.words();
}

std::string mark_of(const Course& course) {
  Mark mark;
  for (const std::string* text : {&course.title, &course.summary, &course.teacher}) mark.add(*text);
  for (const CourseSection& section : course.sections) mark.add(section.title);
  return mark.words();
}

std::string mark_of(const Term& term) {
  Mark mark;
  mark.add(term.name);
  mark.add(term.means);
  return mark.words();
}

bool fits(const LabTranslation& translation, const Lab& lab) {
  if (translation.questions.size() != lab.questions.size()) return false;
  for (std::size_t i = 0; i < lab.questions.size(); ++i)
    if (translation.questions[i].options.size() != lab.questions[i].options.size() ||
        translation.questions[i].mistakes.size() != lab.questions[i].mistakes.size())
      return false;
  return true;
}

bool fits(const CourseTranslation& translation, const Course& course) {
  return translation.sections.size() == course.sections.size();
}

Lab in_language(Lab lab, const std::string& language) {
  if (language.empty() || !lab.language.empty()) return lab;
  const auto words = read_or_none(read_lab_translation, translated_file(lab.file, language));
  if (!words || !fits(*words, lab)) return lab;
  lab.language = language;
  lab.original_title = lab.title;
  lab.title = words->title;
  lab.summary = words->summary;
  lab.text = words->text;
  lab.teacher = words->teacher;
  for (auto& [symbol, means] : lab.symbols)
    if (const auto found = words->symbols.find(symbol); found != words->symbols.end()) means = found->second;
  for (std::size_t i = 0; i < lab.questions.size(); ++i) translate(lab.questions[i], words->questions[i]);
  return lab;
}

Course in_language(Course course, const std::string& language) {
  if (language.empty() || !course.language.empty()) return course;
  const auto words = read_or_none(read_course_translation, translated_file(course.file, language));
  if (!words || !fits(*words, course)) return course;
  course.language = language;
  course.title = words->title;
  course.summary = words->summary;
  course.teacher = words->teacher;
  for (std::size_t i = 0; i < course.sections.size(); ++i) course.sections[i].title = words->sections[i];
  return course;
}

Glossary in_language(const Glossary& glossary, const std::string& language, const std::string& folder) {
  if (language.empty()) return glossary;
  const auto words = read_or_none(read_glossary_translation, translated_file(folder + "/glossary.toml", language));
  std::vector<Term> terms = glossary.terms();
  for (const TermTranslation& one : words) {
    const auto term = std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.name == one.of; });
    if (term == terms.end()) continue;
    term->name = one.name;
    term->means = one.means;
    term->also = one.also;
  }
  return Glossary(std::move(terms));
}

Attempt to_original(const Question& question, Attempt attempt) {
  return renamed(std::move(attempt), question.options, question.original_options);
}

Attempt from_original(const Question& question, Attempt attempt) {
  return renamed(std::move(attempt), question.original_options, question.options);
}

const std::string& original_ask(const Question& question) {
  return question.original_ask.empty() ? question.ask : question.original_ask;
}

}  // namespace rankscope
