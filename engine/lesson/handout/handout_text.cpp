#include <fmt/format.h>

#include "engine/lesson/handout/handout.hpp"
#include "engine/lesson/handout/markdown.hpp"
#include "engine/lesson/handout/words.hpp"
#include "engine/lesson/lab/experiment.hpp"

namespace rankscope {
namespace {

constexpr std::string_view blank = "\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_";

std::string markdown_room_for(const Question& question, const Sheet& sheet, const std::string& language) {
  const auto words = [&](std::string_view english) { return handout_words(english, language); };
  switch (question.kind) {
    case QuestionKind::number:
      return fmt::format("{} {} {}\n\n{}\n\n&nbsp;\n\n&nbsp;\n\n", words("Answer:"), blank, question.unit,
                         words("How:"));
    case QuestionKind::choice:
    case QuestionKind::order: {
      const bool order = question.kind == QuestionKind::order;
      std::string text = order ? fmt::format("{}\n\n", words("Number them in their order:")) : "";
      for (const std::string& item : order ? shuffled(question) : question.options)
        text += fmt::format("- {} {}\n", order ? "\\_\\_" : "☐", item);
      return text + "\n";
    }
    case QuestionKind::draw: {
      const bool of_steps = question.answer_from.starts_with("steps");
      const std::string_view draw = words(of_steps ? "Draw a value for each step, of {}, on an axis from 0 to {}."
                                                   : "Draw a value for each rank, of {}, on an axis from 0 to {}.");
      return fmt::format(fmt::runtime(draw), of_steps ? sheet.steps : sheet.ranks,
                         value_words(question, question.most)) +
             "\n\n&nbsp;\n\n&nbsp;\n\n&nbsp;\n\n";
    }
    case QuestionKind::point:
      if (question.at == PointAt::rank) return fmt::format("{} {}\n\n", words("Rank"), blank);
      if (question.at == PointAt::link)
        return fmt::format("{} {} {} {}\n\n", words("Link: of or from"), blank, words("to"), blank);
      return fmt::format("{} {} {} {}\n\n", words("Rank"), blank, words("op"), blank);
  }
  return {};
}

/// Of a table's cell.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string markdown_answer_of(const Question& question, const std::optional<Target>& simulated,
                               const std::string& language) {
  const auto words = [&](std::string_view english) { return handout_words(english, language); };
  const std::string right = answer_words(question, simulated, language),
                    accepted = accepted_words(question, simulated, language);
  std::string text = fmt::format("**{} {}**", words("Answer:"), right.empty() ? words("known after a run") : right);
  if (!accepted.empty()) text += " (" + accepted + ")";
  text += "\n\n";
  if (!question.formula.empty()) text += fmt::format("{} `{}`\n\n", words("Formula:"), question.formula);
  if (question.variant) text += fmt::format("{} `{}`\n\n", words("With:"), fmt::join(question.variant->settings, " "));
  if (!question.why.empty()) text += fmt::format("{} {}\n\n", words("Why:"), question.why);
  if (!question.mistakes.empty()) {
    text += fmt::format("| {} | {} |\n|---|---|\n", words("Common mistake"), words("Explanation"));
    for (const Mistake& mistake : question.mistakes)
      text += "| " + cell(target_words(question, mistake.near, language)) + " | " + cell(mistake.because) + " |\n";
    text += "\n";
  }
  if (!question.hint.empty()) text += fmt::format("{} {}\n\n", words("Hint:"), question.hint);
  return text;
}

std::string markdown_text_of(const std::string& markdown, bool answers) {
  return without_view_links(with_heading_level(answers ? markdown : without_answers(markdown), 3)) + "\n\n";
}

}  // namespace

std::string handout_markdown(const Handout& handout,
                             const std::function<std::string(const Sheet&, const Picture&)>& image) {
  const auto words = [&](std::string_view english) { return handout_words(english, handout.language); };
  std::string text =
      fmt::format("# {}{}\n\n", handout.title, handout.answers ? words(" (teacher's edition)") : std::string_view());
  if (!handout.summary.empty()) text += handout.summary + "\n\n";
  if (handout.answers && !handout.teacher.empty())
    text += fmt::format("**{}.** {}\n\n", words("For the teacher"), handout.teacher);
  if (!handout.answers) text += fmt::format("{} {} {} {}\n\n", words("Name:"), blank, words("Date:"), blank);
  for (const Sheet& sheet : handout.sheets) {
    const Lab& lab = sheet.lab;
    const LessonParts parts = parts_of(lab.text);
    if (handout.sheets.size() > 1) text += "## " + lab.title + "\n\n";
    text += lab.summary;
    if (lab.minutes > 0) text += " " + fmt::format(fmt::runtime(words("{} minutes.")), lab.minutes);
    if (!lab.needs.empty()) text += " " + fmt::format(fmt::runtime(words("After: {}.")), fmt::join(lab.needs, ", "));
    text += "\n\n";
    if (handout.answers && !lab.teacher.empty())
      text += fmt::format("**{}.** {}\n\n", words("For the teacher"), lab.teacher);
    text += markdown_text_of(parts.before, handout.answers);
    if (!lab.questions.empty()) text += fmt::format("### {}\n\n", words("Questions"));
    for (std::size_t i = 0; i < lab.questions.size(); ++i) {
      const Question& question = lab.questions[i];
      text += fmt::format("**{}.** {}\n\n", i + 1, question.ask);
      if (!handout.answers || question.kind == QuestionKind::choice)
        text += markdown_room_for(question, sheet, handout.language);
      if (handout.answers)
        text += markdown_answer_of(question, i < sheet.simulated.size() ? sheet.simulated[i] : std::nullopt,
                                   handout.language);
    }
    text += markdown_text_of(parts.run, handout.answers);
    for (const Picture& picture : sheet.pictures)
      text += "![" + picture.caption + "](" + image(sheet, picture) + ")\n\n*" + picture.caption + "*\n\n";
    if (!sheet.unsimulated.empty()) text += sheet.unsimulated + "\n\n";
    text += markdown_text_of(parts.after, handout.answers);
  }
  return text;
}

}  // namespace rankscope
