// A lesson, a course or the glossary in another language: only texts. Numbers, answers and plans are read only from the
// English file; its translation is the file of the same name in a subfolder named by the language (labs/de/walls.toml),
// with its texts in the same order. Missing texts stay English.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/lab/course.hpp"
#include "engine/lesson/lab/glossary.hpp"
#include "engine/lesson/lab/lab.hpp"

namespace rankscope {

struct QuestionTranslation {
  std::string ask, hint, why;
  std::vector<std::string> options;   ///< of a choice, or the items of an order: in the original's order
  std::vector<std::string> mistakes;  ///< the reason of each
};

/// Shared by the translations of a lab and of a course.
struct TranslationHead {
  std::string file;
  std::string original;  ///< mark_of() the lab or course that was translated
  std::string title, summary, teacher;
};

struct LabTranslation : TranslationHead {
  std::string text;
  std::map<std::string, std::string> symbols;
  std::vector<QuestionTranslation> questions;
};

struct CourseTranslation : TranslationHead {
  std::vector<std::string> sections;  ///< their titles
};

struct TermTranslation {
  std::string at;        ///< its position in the file
  std::string of;        ///< the English name
  std::string original;  ///< mark of the English definition
  std::string name, means;
  std::vector<std::string> also;
};

/// "labs/de/walls.toml" of "labs/walls.toml".
std::string translated_file(const std::string& file, const std::string& language);

/// Throw ScenarioError with position; nullopt if there is no such file.
std::optional<LabTranslation> read_lab_translation(const std::string& file);
std::optional<CourseTranslation> read_course_translation(const std::string& file);
std::vector<TermTranslation> read_glossary_translation(const std::string& file);

/// Sixteen hexadecimal digits, a hash of all texts of an original: any change of them changes it.
std::string mark_of(const Lab& lab);
std::string mark_of(const Course& course);
std::string mark_of(const Term& term);

/// Whether a translation has an entry for each of the original's texts, so that it can be shown.
bool fits(const LabTranslation& translation, const Lab& lab);
bool fits(const CourseTranslation& translation, const Course& course);

/// In that language, if a translation exists beside the original and fits; otherwise, or in English, unchanged.
Lab in_language(Lab lab, const std::string& language);
Course in_language(Course course, const std::string& language);
/// Terms of the installed glossary; `folder` is its own.
Glossary in_language(const Glossary& glossary, const std::string& language, const std::string& folder);

/// Converts an answer to a translated question to the original's words, for storing and sending, and back.
Attempt to_original(const Question& question, Attempt attempt);
Attempt from_original(const Question& question, Attempt attempt);
/// The text of a question in the original's words.
const std::string& original_ask(const Question& question);

}  // namespace rankscope
