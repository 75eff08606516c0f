#include "engine/lesson/lab/check_translation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "engine/lesson/lab/experiment.hpp"
#include "engine/lesson/lab/lesson_words.hpp"

namespace rankscope {
namespace {

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

using Counts = std::map<std::string, int>;

/// Numbers as printed: "1,627,392", "0.25". Signs and units are words.
void count_numbers(std::string_view text, Counts& counts) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && (is_digit(text[end]) || ((text[end] == '.' || text[end] == ',') &&
                                                         end + 1 < text.size() && is_digit(text[end + 1]))))
      ++end;
    ++counts[std::string(text.substr(at, end - at))];
    at = end;
  }
}

/// "(view:memory?rank=0)": the targets of links.
void count_links(std::string_view text, Counts& counts) {
  for (std::size_t at = text.find("]("); at != std::string_view::npos; at = text.find("](", at + 2))
    if (const std::size_t end = text.find(')', at); end != std::string_view::npos)
      ++counts[std::string(text.substr(at + 1, end - at))];
}

/// "`--set zero=3`", and commands in lines of their own.
void count_commands(std::string_view text, Counts& counts) {
  for (const Experiment& one : experiments_in(text)) ++counts[one.line];
  for (std::size_t at = text.find('`'); at != std::string_view::npos;) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string_view::npos) break;
    ++counts[std::string(text.substr(at + 1, end - at - 1))];
    at = text.find('`', end + 1);
  }
}

/// Headings by level, folded answers, and rows of tables.
void count_parts(std::string_view text, Counts& counts) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with("## "))
      ++counts[heading_of(line) == Heading::run     ? "heading that begins the run"
               : heading_of(line) == Heading::after ? "heading that begins what gives answers away"
                                                    : "heading before the questions"];
    if (line.starts_with("> ") && !answer_word_of(line.substr(2)).empty()) ++counts["folded answer"];
    if (line.starts_with("|")) ++counts["row of a table"];
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

class Comparison {
 public:
  explicit Comparison(const std::string& file) : file_(file) {}

  void add_fault(const std::string& where, const std::string& what) {
    faults_.push_back(fmt::format("{}:{}: {}", file_, where, what));
  }

  void compare(const std::string& where, const std::string& original, const std::string& translation) {
    if (original.empty() != translation.empty())
      return add_fault(where,
                       original.empty() ? "the original has no such text; take it away" : "it is not translated");
    using Count = void (*)(std::string_view, Counts&);
    constexpr std::pair<const char*, Count> kinds[] = {
        {"numbers", count_numbers}, {"links", count_links}, {"commands", count_commands}, {"parts", count_parts}};
    for (const auto& [kind, count] : kinds) {
      Counts of_original, of_translation;
      count(original, of_original);
      count(translation, of_translation);
      if (const std::string what = difference(of_original, of_translation); !what.empty())
        add_fault(where, fmt::format("{} are not those of the original: {}", kind, what));
    }
  }

  void compare_age(const std::string& mark, const std::string& of_original) {
    if (mark == of_original) return;
    add_fault("original",
              fmt::format("it is of an older text; translate what was changed since, then write original = \"{}\"",
                          of_original));
  }

  std::vector<std::string> take() { return std::move(faults_); }

 private:
  static std::string difference(const Counts& original, const Counts& translation) {
    std::vector<std::string> words;
    for (const auto& [what, count] : original) {
      const auto found = translation.find(what);
      const int there = found == translation.end() ? 0 : found->second;
      if (there < count) words.push_back(fmt::format("'{}' is missing", what));
      if (there > count) words.push_back(fmt::format("'{}' is there too often", what));
    }
    for (const auto& [what, count] : translation)
      if (original.count(what) == 0) words.push_back(fmt::format("'{}' is not in it", what));
    if (words.size() > 4) {
      const std::size_t more = words.size() - 4;
      words.resize(4);
      words.push_back(fmt::format("and {} more", more));
    }
    return fmt::format("{}", fmt::join(words, ", "));
  }

  std::string file_;
  std::vector<std::string> faults_;
};

void compare_counts(Comparison& comparison, const std::string& where, const char* what, std::size_t original,
                    std::size_t translation) {
  if (original != translation)
    comparison.add_fault(
        where, fmt::format("{} {}; the original has {}, and one translation is for each", translation, what, original));
}

}  // namespace

std::vector<std::string> faults_of(const LabTranslation& translation, const Lab& lab) {
  Comparison comparison(translation.file);
  comparison.compare_age(translation.original, mark_of(lab));
  comparison.compare("title", lab.title, translation.title);
  comparison.compare("summary", lab.summary, translation.summary);
  comparison.compare("text", lab.text, translation.text);
  comparison.compare("teacher", lab.teacher, translation.teacher);
  for (const auto& [symbol, means] : lab.symbols)
    if (translation.symbols.count(symbol) == 0)
      comparison.add_fault("symbols", fmt::format("the symbol '{}' is not translated", symbol));
  for (const auto& [symbol, means] : translation.symbols)
    if (lab.symbols.count(symbol) == 0)
      comparison.add_fault("symbols", fmt::format("the original defines no symbol '{}'; take it away", symbol));
  compare_counts(comparison, "questions", "questions", lab.questions.size(), translation.questions.size());
  for (std::size_t i = 0; i < std::min(lab.questions.size(), translation.questions.size()); ++i) {
    const Question& question = lab.questions[i];
    const QuestionTranslation& words = translation.questions[i];
    const std::string where = fmt::format("question {}", i + 1);
    comparison.compare(where, question.ask, words.ask);
    comparison.compare(where, question.hint, words.hint);
    comparison.compare(where, question.why, words.why);
    compare_counts(comparison, where, "options", question.options.size(), words.options.size());
    compare_counts(comparison, where, "mistakes", question.mistakes.size(), words.mistakes.size());
    for (std::size_t k = 0; k < std::min(question.options.size(), words.options.size()); ++k)
      comparison.compare(where, question.options[k], words.options[k]);
    for (std::size_t k = 0; k < std::min(question.mistakes.size(), words.mistakes.size()); ++k)
      comparison.compare(where, question.mistakes[k].because, words.mistakes[k]);
    for (std::size_t k = 1; k < words.options.size(); ++k)
      if (std::find(words.options.begin(), words.options.begin() + k, words.options[k]) != words.options.begin() + k)
        comparison.add_fault(where, fmt::format("two options are '{}'; give each its own words", words.options[k]));
  }
  return comparison.take();
}

std::vector<std::string> faults_of(const CourseTranslation& translation, const Course& course) {
  Comparison comparison(translation.file);
  comparison.compare_age(translation.original, mark_of(course));
  comparison.compare("title", course.title, translation.title);
  comparison.compare("summary", course.summary, translation.summary);
  comparison.compare("teacher", course.teacher, translation.teacher);
  compare_counts(comparison, "sections", "sections", course.sections.size(), translation.sections.size());
  return comparison.take();
}

std::vector<std::string> faults_of(const std::vector<TermTranslation>& translation, const Glossary& glossary) {
  std::vector<std::string> faults;
  for (const TermTranslation& words : translation) {
    const auto& terms = glossary.terms();
    const auto term = std::find_if(terms.begin(), terms.end(), [&](const Term& one) { return one.name == words.of; });
    if (term == terms.end()) {
      faults.push_back(fmt::format("{}: the glossary has no term '{}'; name an English one", words.at, words.of));
      continue;
    }
    Comparison comparison(words.at);
    comparison.compare_age(words.original, mark_of(*term));
    comparison.compare("means", term->means, words.means);
    for (std::string& fault : comparison.take()) faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace rankscope
