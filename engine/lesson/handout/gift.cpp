#include "engine/lesson/handout/gift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/lesson/handout/markdown.hpp"
#include "engine/lesson/handout/words.hpp"
#include "engine/lesson/lab/judge.hpp"

namespace rankscope {
namespace {

/// Escapes GIFT's control characters with a backslash; joins lines.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += ' ';
      continue;
    }
    if (std::string_view("~=#{}:\\").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string feedback(const std::string& text) { return text.empty() ? "" : "#" + escaped(without_view_links(text)); }

/// For all answers, right or wrong.
std::string general_feedback(const Question& question) {
  return question.why.empty() ? "" : "\t####" + escaped(without_view_links(question.why)) + "\n";
}

std::string number(double value) { return fmt::format("{:.10g}", value); }

std::string asked(const Question& question, const std::string& language) {
  std::string text = "[markdown]" + escaped(without_view_links(question.ask));
  if (question.kind == QuestionKind::number && !question.unit.empty())
    text += escaped(fmt::format(fmt::runtime(handout_words(" (in {})", language)),
                                question.is_percentage() ? handout_words("percent", language) : question.unit));
  return text;
}

std::string numerical(const Question& question, double truth) {
  std::string text = fmt::format("{{#\n\t={}:{}\n", number(truth), number(question.tolerance));
  for (const Mistake& mistake : question.mistakes) {
    const auto* near = std::get_if<double>(&mistake.near);
    if (near == nullptr) continue;
    text += fmt::format("\t=%0%{}:{}{}\n", number(*near), number(mistake_range(question, *near, truth)),
                        feedback(mistake.because));
  }
  return text + general_feedback(question) + "}\n";
}

std::string choice(const std::vector<std::string>& options, const std::string& right, const Question& question) {
  std::string text = "{\n";
  for (const std::string& option : options) {
    std::string because;
    for (const Mistake& mistake : question.mistakes)
      if (const auto* near = std::get_if<std::string>(&mistake.near); near != nullptr && *near == option)
        because = mistake.because;
    text += fmt::format("\t{}{}{}\n", option == right ? '=' : '~', escaped(option), feedback(because));
  }
  return text + general_feedback(question) + "}\n";
}

/// Moodle matches three pairs or more; an order of two becomes a choice.
std::string order(const std::vector<std::string>& items, const Question& question, const std::string& language) {
  if (items.size() < 3) {
    const auto in_turn = [&](const std::string& first, const std::string& second) {
      return fmt::format(fmt::runtime(handout_words("{}, then {}", language)), first, second);
    };
    const std::string right = in_turn(items.front(), items.back()), wrong = in_turn(items.back(), items.front());
    return choice({std::min(right, wrong), std::max(right, wrong)}, right, question);
  }
  std::string text = "{\n";
  for (std::size_t i = 0; i < items.size(); ++i) text += fmt::format("\t={}. -> {}\n", i + 1, escaped(items[i]));
  return text + general_feedback(question) + "}\n";
}

}  // namespace

Quiz gift(const Handout& handout) {
  Quiz quiz;
  quiz.text = "// " + escaped(handout.title) + "\n\n";
  for (const Sheet& sheet : handout.sheets) {
    const Lab& lab = sheet.lab;
    // A slash in a category begins a subcategory.
    std::string category = handout.sheets.size() > 1 ? handout.title + "\n" + lab.title : lab.title;
    std::replace(category.begin(), category.end(), '/', '-');
    std::replace(category.begin(), category.end(), '\n', '/');
    quiz.text += "$CATEGORY: Rankscope/" + category + "\n\n";
    for (std::size_t i = 0; i < lab.questions.size(); ++i) {
      const Question& question = lab.questions[i];
      const std::string name = fmt::format("{} {}", lab.name(), i + 1);
      std::optional<Target> truth = known_answer(question);
      if (!truth && i < sheet.simulated.size()) truth = sheet.simulated[i];
      std::string answers;
      if (question.drawn()) {
        quiz.left_out.push_back(name + ", a drawing");
      } else if (question.kind == QuestionKind::point) {
        quiz.left_out.push_back(name + ", a click on an op");
      } else if (!truth) {
        quiz.left_out.push_back(name + ", which needs a run");
      } else if (question.kind == QuestionKind::number) {
        answers = numerical(question, std::get<double>(*truth));
      } else if (question.kind == QuestionKind::choice) {
        answers = choice(question.options, std::get<std::string>(*truth), question);
      } else {
        answers = order(std::get<std::vector<std::string>>(*truth), question, handout.language);
      }
      if (answers.empty()) continue;
      ++quiz.asked;
      quiz.text += "::" + escaped(name) + "::" + asked(question, handout.language) + answers + "\n";
    }
  }
  if (!quiz.left_out.empty())
    quiz.text += fmt::format("// Omitted: {} ({})\n", quiz.left_out.size(), fmt::join(quiz.left_out, "; "));
  return quiz;
}

}  // namespace rankscope
