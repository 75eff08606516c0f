#include <fmt/format.h>

#include "engine/lesson/handout/handout.hpp"
#include "engine/lesson/handout/markdown.hpp"
#include "engine/lesson/lab/experiment.hpp"

namespace rankscope {
namespace {

constexpr std::string_view blank = "\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_";

std::string markdown_room_for(const Question& question, const Sheet& sheet) {
  switch (question.kind) {
    case QuestionKind::number:
      return fmt::format("Answer: {} {}\n\nHow:\n\n&nbsp;\n\n&nbsp;\n\n", blank, question.unit);
    case QuestionKind::choice:
    case QuestionKind::order: {
      const bool order = question.kind == QuestionKind::order;
      std::string text = order ? "Number them in their order:\n\n" : "";
      for (const std::string& item : order ? shuffled(question) : question.options)
        text += fmt::format("- {} {}\n", order ? "\\_\\_" : "☐", item);
      return text + "\n";
    }
    case QuestionKind::draw: {
      const bool of_steps = question.answer_from.starts_with("steps");
      return fmt::format("Draw a value for each {}, of {}, on an axis from 0 to {}.\n\n&nbsp;\n\n&nbsp;\n\n&nbsp;\n\n",
                         of_steps ? "step" : "rank", of_steps ? sheet.steps : sheet.ranks,
                         value_words(question, question.most));
    }
    case QuestionKind::point: return fmt::format("Rank {} op {}\n\n", blank, blank);
  }
  return {};
}

/// Of a table's cell.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string markdown_answer_of(const Question& question, const std::optional<Target>& simulated) {
  const std::string right = answer_words(question, simulated), accepted = accepted_words(question, simulated);
  std::string text = "**Answer: " + (right.empty() ? "known after a run" : right) + "**";
  if (!accepted.empty()) text += " (" + accepted + ")";
  text += "\n\n";
  if (!question.formula.empty()) text += "Formula: `" + question.formula + "`\n\n";
  if (question.variant) text += fmt::format("With: `{}`\n\n", fmt::join(question.variant->settings, " "));
  if (!question.why.empty()) text += "Why: " + question.why + "\n\n";
  if (!question.mistakes.empty()) {
    text += "| Common mistake | Explanation |\n|---|---|\n";
    for (const Mistake& mistake : question.mistakes)
      text += "| " + cell(target_words(question, mistake.near)) + " | " + cell(mistake.because) + " |\n";
    text += "\n";
  }
  if (!question.hint.empty()) text += "Hint: " + question.hint + "\n\n";
  return text;
}

std::string markdown_text_of(const std::string& markdown, bool answers) {
  return without_view_links(with_heading_level(answers ? markdown : without_answers(markdown), 3)) + "\n\n";
}

}  // namespace

std::string handout_markdown(const Handout& handout,
                             const std::function<std::string(const Sheet&, const Picture&)>& image) {
  std::string text = "# " + handout.title + (handout.answers ? " (teacher's edition)" : "") + "\n\n";
  if (!handout.summary.empty()) text += handout.summary + "\n\n";
  if (handout.answers && !handout.teacher.empty()) text += "**For the teacher.** " + handout.teacher + "\n\n";
  if (!handout.answers) text += fmt::format("Name: {} Date: {}\n\n", blank, blank);
  for (const Sheet& sheet : handout.sheets) {
    const Lab& lab = sheet.lab;
    const LessonParts parts = parts_of(lab.text);
    if (handout.sheets.size() > 1) text += "## " + lab.title + "\n\n";
    text += lab.summary;
    if (lab.minutes > 0) text += fmt::format(" {} minutes.", lab.minutes);
    if (!lab.needs.empty()) text += fmt::format(" After: {}.", fmt::join(lab.needs, ", "));
    text += "\n\n";
    if (handout.answers && !lab.teacher.empty()) text += "**For the teacher.** " + lab.teacher + "\n\n";
    text += markdown_text_of(parts.before, handout.answers);
    if (!lab.questions.empty()) text += "### Questions\n\n";
    for (std::size_t i = 0; i < lab.questions.size(); ++i) {
      const Question& question = lab.questions[i];
      text += fmt::format("**{}.** {}\n\n", i + 1, question.ask);
      if (!handout.answers || question.kind == QuestionKind::choice) text += markdown_room_for(question, sheet);
      if (handout.answers)
        text += markdown_answer_of(question, i < sheet.simulated.size() ? sheet.simulated[i] : std::nullopt);
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
