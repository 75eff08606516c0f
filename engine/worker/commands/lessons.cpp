// `rankscope-engine lessons`: lists lessons, makes hand-outs and quizzes, and checks a lesson.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/host/write_watch.hpp"
#include "engine/lesson/handout/gift.hpp"
#include "engine/lesson/handout/words.hpp"
#include "engine/lesson/lab/check.hpp"
#include "engine/lesson/lab/check_translation.hpp"
#include "engine/lesson/lab/lesson_words.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/resources.hpp"
#include "engine/worker/commands/command.hpp"
#include "engine/worker/lesson_predictions.hpp"
#include "engine/worker/print.hpp"
#include "telemetry/trace/output_file.hpp"
#include "telemetry/trace/trace_error.hpp"

namespace rankscope {

enum class HandoutFormat : std::uint8_t { html, md, gift };
template <>
inline constexpr auto word_table<HandoutFormat> = word_list("html", "md", "gift");

}  // namespace rankscope

namespace rankscope::command {
namespace {

namespace fs = std::filesystem;

struct LessonsRequest {
  bool json = false;
  std::string lab, course, output;
  Choice<HandoutFormat> as = HandoutFormat::html;
  std::string language;  ///< "de"; empty: English
  bool answers = false;
  std::vector<std::string> files;
};

// list

void report_refused(const Library& library) {
  for (const std::string& line : library.refused) std::cerr << message_line(line) << "\n";
}

/// Appended to the title of a text that is not translated into the requested language.
std::string untranslated_mark(const std::string& language_of_text, const LessonsRequest& request) {
  return request.language.empty() || !language_of_text.empty() ? "" : " (English)";
}

nlohmann::ordered_json json_of(const Library& library) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array(), courses = nlohmann::ordered_json::array();
  int number = 0;
  for (const LabGroup& group : library.groups) {
    nlohmann::ordered_json labs = nlohmann::ordered_json::array();
    for (const Lab& lab : group.labs)
      labs.push_back(
          {{"number", ++number},
           {"name", lab.name()},
           {"title", lab.title},
           {"language", lab.language.empty() ? "en" : lab.language},
           {"summary", lab.summary},
           {"minutes", lab.minutes > 0 ? nlohmann::ordered_json(lab.minutes) : nlohmann::ordered_json(nullptr)},
           {"needs", lab.needs},
           {"questions", lab.questions.size()},
           {"file", lab.file}});
    groups.push_back({{"title", group.title}, {"labs", labs}});
  }
  for (const Course& course : library.courses)
    courses.push_back({{"name", course.name()},
                       {"title", course.title},
                       {"language", course.language.empty() ? "en" : course.language},
                       {"summary", course.summary},
                       {"labs", course.labs()}});
  return {{"groups", groups}, {"courses", courses}, {"refused", library.refused}};
}

int list_lessons(const LessonsRequest& request) {
  const Library library = read_library(request.language);
  if (request.json) {
    print_json(json_of(library));
    return 0;
  }
  report_refused(library);
  std::size_t widest = 0;
  for (const Lab* lab : library.labs()) widest = std::max(widest, lab->name().size());
  for (const Course& course : library.courses) widest = std::max(widest, course.name().size());
  int number = 0;
  for (const LabGroup& group : library.groups) {
    std::cout << (number > 0 ? "\n" : "") << group.title << "\n";
    for (const Lab& lab : group.labs)
      std::cout << fmt::format("{:4}  {:<{}}  {:>7}  {}\n", ++number, lab.name(), widest,
                               lab.minutes > 0 ? fmt::format("{} min", lab.minutes) : "",
                               lab.title + untranslated_mark(lab.language, request));
  }
  if (!library.courses.empty()) std::cout << "\nCourses (lessons export --course NAME)\n";
  for (const Course& course : library.courses)
    std::cout << fmt::format("      {:<{}}  {:>7}  {}\n", course.name(), widest,
                             counted(std::ssize(course.labs()), "lab"),
                             course.title + untranslated_mark(course.language, request));
  return 0;
}

// export

Lab lab_named(const std::string& named, const Library& library, const std::string& language) {
  std::error_code none;
  if (fs::is_regular_file(named, none)) {
    if (auto lab = read_lab(named)) return in_language(*std::move(lab), language);
    throw ScenarioError(named + ":1:1: no lesson in this file; add the table [lab] with summary and text");
  }
  if (const Lab* lab = library.lab(named)) return *lab;
  std::vector<std::string> known;
  for (const Lab* lab : library.labs()) known.push_back(lab->name());
  throw ScenarioError("no lab '" + excerpt(named) + "'; " +
                      nearest_or(named, known, "see rankscope-engine lessons list"));
}

/// The course's labs, or the single lab; without pictures and values.
Handout chosen(const LessonsRequest& request, const Library& library) {
  Handout handout;
  handout.answers = request.answers;
  handout.language = request.language;
  if (request.course.empty()) {
    Lab lab = lab_named(request.lab, library, request.language);
    handout.title = lab.title;
    handout.sheets.push_back(Sheet{std::move(lab)});
    return handout;
  }
  const Course* course = library.course(request.course);
  if (course == nullptr) {
    std::vector<std::string> known;
    for (const Course& one : library.courses) known.push_back(one.name());
    throw ScenarioError("no course '" + excerpt(request.course) + "'; " +
                        (known.empty() ? "none is installed" : "there is " + listed(known)));
  }
  handout.title = course->title;
  handout.summary = course->summary;
  handout.teacher = course->teacher;
  for (const std::string& name : course->labs())
    handout.sheets.push_back(Sheet{lab_named(name, library, request.language)});
  return handout;
}

/// Pictures and results of simulations. Questions that cannot be simulated are omitted and listed.
void simulate_into(Sheet& sheet, LessonPredictions& predictions, bool pictures) {
  const Lab& lab = sheet.lab;
  const auto try_it = [&](const auto& what) {
    try {
      what();
    } catch (const std::exception& error) {
      sheet.unsimulated =
          fmt::format(fmt::runtime(handout_words("The step of this lesson is not simulated here: {}", lab.language)),
                      message_line(error.what()));
      std::cerr << lab.file << ": " << message_line(error.what()) << "\n";
    }
  };
  try_it([&] {
    const Scenario& scenario = predictions.scenario(lab);
    sheet.ranks = static_cast<std::size_t>(scenario.plan.ranks());
    sheet.steps = static_cast<std::size_t>(scenario.train.steps);
    if (pictures) sheet.pictures = predictions.pictures(lab);
  });
  for (const Question& question : lab.questions) {
    std::optional<Target> simulated;
    if (!question.answer_from.empty())
      try_it([&] {
        if (question.drawn()) {
          const auto series = predictions.series(lab, question);
          if (!series.empty()) simulated = series;
        } else if (const auto value = predictions.value(lab, question)) {
          simulated = *value;
        }
      });
    sheet.simulated.push_back(std::move(simulated));
  }
}

/// "one-step-timeline.svg".
std::string file_of(const Sheet& sheet, const Picture& picture) {
  return sheet.lab.name() + "-" + picture.name + ".svg";
}

void write_file(const fs::path& path, const std::string& text) try {
  OutputFile output(path.string(), {});
  std::ofstream file(output.path(), std::ios::binary | std::ios::trunc);
  WriteWatch watch(file);
  file << text;
  if (const std::string why = watch.failure(); !why.empty())
    throw ScenarioError(path.string() + ": cannot be written: " + why);
  output.commit();
} catch (const TraceError& error) {
  throw ScenarioError(error.what());
}

std::string markdown_of(const Handout& handout, const std::string& output) {
  const bool beside = !output.empty();
  const fs::path folder = fs::path(output).replace_extension(".pictures");  // next to "handout.md"
  std::error_code failed_to_make;
  if (beside) fs::create_directories(folder, failed_to_make);
  if (failed_to_make) throw ScenarioError(folder.string() + ": cannot be created: " + failed_to_make.message());
  Handout shown = handout;
  if (!beside)  // there is no folder for them
    for (Sheet& sheet : shown.sheets) sheet.pictures.clear();
  for (const Sheet& sheet : shown.sheets)
    for (const Picture& picture : sheet.pictures) write_file(folder / file_of(sheet, picture), picture.svg);
  return handout_markdown(shown, [&](const Sheet& sheet, const Picture& picture) {
    return (folder.filename() / file_of(sheet, picture)).string();
  });
}

/// Lessons that remain English in a hand-out of another language.
void report_untranslated(const Handout& handout) {
  std::vector<std::string> names;
  for (const Sheet& sheet : handout.sheets)
    if (!handout.language.empty() && sheet.lab.language.empty()) names.push_back(sheet.lab.name());
  if (!names.empty())
    std::cerr << fmt::format("rankscope-engine: not translated, so in English: {}\n", fmt::join(names, ", "));
}

int export_lessons(const LessonsRequest& request) {
  if (request.lab.empty() == request.course.empty())
    throw ScenarioError("lessons export needs either a lab or --course NAME; see rankscope-engine lessons list");
  const std::string output = request.output == "-" ? "" : request.output;
  const Library library = read_library(request.language);
  Handout handout = chosen(request, library);
  report_untranslated(handout);
  LessonPredictions predictions;
  const bool pictures = request.as == HandoutFormat::html || (request.as == HandoutFormat::md && !output.empty());
  for (Sheet& sheet : handout.sheets) simulate_into(sheet, predictions, pictures);
  if (request.as == HandoutFormat::md && output.empty())
    std::cerr << "rankscope-engine: pictures are separate files; give -o FILE to write the Markdown and its pictures\n";
  std::string text;
  if (request.as == HandoutFormat::gift) {
    const Quiz quiz = gift(handout);
    std::cerr << counted(quiz.asked, "question")
              << (quiz.left_out.empty() ? "" : fmt::format("; omitted: {}", fmt::join(quiz.left_out, "; "))) << "\n";
    text = quiz.text;
  } else {
    text = request.as == HandoutFormat::html ? handout_html(handout) : markdown_of(handout, output);
  }
  if (!output.empty())
    write_file(output, text);
  else
    std::cout << text << std::flush;
  return 0;
}

// check

struct Checked {
  std::vector<std::string> faults;
  int lessons = 0, courses = 0, translations = 0;
  void add(const std::vector<std::string>& more) { faults.insert(faults.end(), more.begin(), more.end()); }
};

void check_glossary(const CheckAgainst& against, Checked& checked) {
  checked.add(faults_of(against.glossary, against.labs));
  for (const fs::path& folder : resource_folders())
    for (const std::string& language : known_languages()) try {
        checked.add(faults_of(read_glossary_translation(translated_file((folder / "glossary.toml").string(), language)),
                              against.glossary));
      } catch (const ScenarioError& error) {
        checked.faults.emplace_back(error.what());
      }
}

/// A file with sections is a course; any other is read as a lesson.
bool is_course(const std::string& file) {
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("[[section]]")) return true;
  return false;
}

void check_file(const std::string& named, const CheckAgainst& against, Checked& checked) {
  try {
    if (is_course(named)) {
      const Course course = read_course(named);
      checked.add(faults_of(course, against.labs));
      ++checked.courses;
      for (const std::string& language : known_languages())
        if (const auto translation = read_course_translation(translated_file(named, language))) {
          checked.add(faults_of(*translation, course));
          ++checked.translations;
        }
      return;
    }
    const fs::path file = find_scenario(named);
    const std::string path = file.empty() ? named : file.string();
    const auto lab = read_lab(path);
    if (!lab) throw ScenarioError(path + ":1:1: no lesson in this file; add the table [lab] with summary and text");
    read_scenario(path);  // its scenario must be readable, too
    checked.add(faults_of(*lab, against));
    ++checked.lessons;
    for (const std::string& language : known_languages())
      if (const auto translation = read_lab_translation(translated_file(path, language))) {
        checked.add(faults_of(*translation, *lab));
        ++checked.translations;
      }
  } catch (const ScenarioError& error) {
    checked.faults.emplace_back(error.what());
  }
}

std::vector<std::string> names_of_labs(const LessonsRequest& request, const Library& library) {
  std::vector<std::string> names;
  for (const Lab* lab : library.labs()) names.push_back(lab->name());
  for (const std::string& file : request.files)  // files that are checked together may depend on each other
    if (!is_course(file)) names.push_back(fs::path(file).stem().string());
  return names;
}

int check_lessons(const LessonsRequest& request) {
  const Library library = read_library();
  LessonPredictions predictions;
  CheckAgainst against;
  against.glossary = read_glossary();
  against.labs = names_of_labs(request, library);
  against.simulated = [&](const Lab& lab, const Question& question) { return predictions.value(lab, question); };
  against.simulated_series = [&](const Lab& lab, const Question& question) {
    return predictions.series(lab, question);
  };
  against.places = [&](const Lab& lab) { return predictions.places(lab); };
  std::vector<std::string> files = request.files;
  if (files.empty()) {
    for (const char* kind : {"labs", "courses"})
      for (const fs::path& file : resource_files(kind)) files.push_back(file.string());
  }
  Checked checked;
  if (request.files.empty()) check_glossary(against, checked);
  for (const std::string& file : files) check_file(file, against, checked);
  if (request.json) {
    print_json(nlohmann::ordered_json{{"lessons", checked.lessons},
                                      {"courses", checked.courses},
                                      {"translations", checked.translations},
                                      {"faults", checked.faults}});
  } else {
    for (const std::string& fault : checked.faults) std::cout << message_line(fault) << "\n";
    std::cerr << counted(checked.lessons, "lesson") << ", " << counted(checked.courses, "course") << " and "
              << counted(checked.translations, "translation") << " checked, "
              << counted(std::ssize(checked.faults), "fault") << "\n";
  }
  return checked.faults.empty() ? 0 : 1;
}

void add_language(CLI::App* line, std::string& language) {
  line->add_option_function<std::string>(
          "--language", [&language](const std::string& chosen) { language = chosen == "en" ? "" : chosen; },
          "language of titles, texts and questions; what is not translated stays English")
      ->check(CLI::IsMember(known_languages()))
      ->type_name("CODE");
}

}  // namespace

Command lessons(CLI::App& app) {
  const auto given = std::make_shared<LessonsRequest>();
  auto* line = app.add_subcommand("lessons", "list lessons, make hand-outs and quizzes, check a lesson");
  line->require_subcommand(1);

  auto* list = line->add_subcommand("list", "list all lessons in order, by group, and the courses");
  add_json(list, given->json);
  add_language(list, given->language);

  auto* out = line->add_subcommand("export", "make a hand-out, the teacher's edition, or a Moodle quiz");
  out->add_option("LAB", given->lab, "name or file of a lab");
  out->add_option("--course", given->course, "all labs of a course, in one file");
  add_choice(out, "--as", given->as,
             "html (one file with its pictures), md (Markdown, pictures in a separate folder) or gift "
             "(questions for Moodle)");
  out->add_flag("--answers", given->answers,
                "the teacher's edition: with answers, tolerances, explanations, common mistakes and notes");
  add_language(out, given->language);
  out->add_option("-o,--output", given->output, "file to write (default: - for standard output)");

  auto* check = line->add_subcommand("check",
                                     "find answers printed before Run, ranges that accept too much or too "
                                     "little, undefined symbols, unknown names, and translations that differ from "
                                     "their original or are older; exit status 1 if there are any");
  check->add_option("FILE", given->files, "lessons (file or name of a lab) and courses (default: all installed)");
  add_json(check, given->json);

  return {line, [given, list, out] {
            return *list ? list_lessons(*given) : *out ? export_lessons(*given) : check_lessons(*given);
          }};
}

}  // namespace rankscope::command
