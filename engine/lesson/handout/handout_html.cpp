#include <fmt/format.h>

#include "engine/lesson/handout/handout.hpp"
#include "engine/lesson/handout/markdown.hpp"
#include "engine/lesson/handout/words.hpp"
#include "engine/lesson/lab/experiment.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --ink: #1b2430; --soft: #566172; --line: #d5d9e0; --ground: #fff; --card: #f3f4f6; --good: #147254; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa4b2; --line: #313845; --ground: #14171c; --card: #1b1f26; --good: #4cb583; } }
@media print { :root { --ink: #000; --soft: #444; --line: #bbb; --ground: #fff; --card: #fff; --good: #000; }
  .lesson + .lesson, .after { break-before: page; } .question, figure, table { break-inside: avoid; } }
body { font: 16px/1.5 "DejaVu Sans", system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 46em; margin: 2em auto; padding: 0 1em; }
h1 { line-height: 1.2; } h2 { border-top: 2px solid var(--line); padding-top: .8em; } h3 { margin-bottom: .3em; }
p.about { color: var(--soft); }
table { border-collapse: collapse; margin: 1em 0; } th, td { border: 1px solid var(--line); padding: .2em .6em; }
pre, code { font-family: "DejaVu Sans Mono", monospace; font-size: .92em; } pre { background: var(--card); padding: .6em; overflow-x: auto; }
.question { border: 1px solid var(--line); background: var(--card); border-radius: 6px; padding: .4em 1em; margin: 1em 0; }
.blank { display: inline-block; min-width: 9em; border-bottom: 1px solid var(--ink); height: 1.4em; }
.room { height: 5em; border-bottom: 1px dotted var(--line); } ul.boxes { list-style: none; padding-left: .4em; }
ul.boxes span { display: inline-block; width: 1em; height: 1em; border: 1px solid var(--ink); margin-right: .6em; vertical-align: middle; text-align: center; }
.answer { border-left: 4px solid var(--good); padding-left: .8em; margin: .8em 0; } .teacher { border: 1px dashed var(--soft); padding: 0 1em; margin: 1em 0; }
figure { margin: 1.2em 0; } svg { max-width: 100%; height: auto; } figcaption { color: var(--soft); font-size: .9em; }
blockquote { border-left: 4px solid var(--line); margin-left: 0; padding-left: 1em; }
)";

std::string paragraph(const std::string& html) { return "<p>" + html + "</p>\n"; }

/// The space for the answer.
std::string html_room_for(const Question& question, const Sheet& sheet, const std::string& language) {
  const auto words = [&](std::string_view english) { return std::string(handout_words(english, language)); };
  switch (question.kind) {
    case QuestionKind::number:
      return paragraph(words("Answer:") + " <span class=\"blank\"></span> " + escaped_html(question.unit)) +
             "<div class=\"room\">" + words("How:") + "</div>\n";
    case QuestionKind::choice:
    case QuestionKind::order: {
      std::string html = "<ul class=\"boxes\">\n";
      for (const std::string& item : question.kind == QuestionKind::order ? shuffled(question) : question.options)
        html += "<li><span></span>" + inline_html_of(item) + "</li>\n";
      html += "</ul>\n";
      return question.kind == QuestionKind::order ? paragraph(words("Number them in their order:")) + html : html;
    }
    case QuestionKind::draw: {
      const bool of_steps = question.answer_from.starts_with("steps");
      return draw_field(of_steps ? sheet.steps : sheet.ranks, question.most, question.unit,
                        words(of_steps ? "step" : "rank"), {}, words("a field to draw on"));
    }
    case QuestionKind::point: {
      const std::string blank = " <span class=\"blank\"></span>";
      if (question.at == PointAt::rank) return paragraph(words("Rank") + blank);
      if (question.at == PointAt::link) return paragraph(words("Link: of or from") + blank + " " + words("to") + blank);
      return paragraph(words("Rank") + blank + " " + words("op") + blank);
    }
  }
  return {};
}

std::string html_answer_of(const Question& question, const std::optional<Target>& simulated, const Sheet& sheet,
                           const std::string& language) {
  const auto words = [&](std::string_view english) { return std::string(handout_words(english, language)); };
  std::string html = "<div class=\"answer\">\n";
  const std::string right = answer_words(question, simulated, language),
                    accepted = accepted_words(question, simulated, language);
  html += paragraph(
      "<b>" + words("Answer:") + " " + (right.empty() ? words("known after a run") : inline_html_of(right)) + "</b>" +
      (accepted.empty() ? "" : "<br>" + escaped_html(accepted)) +
      (question.formula.empty() ? ""
                                : "<br>" + words("formula:") + " <code>" + escaped_html(question.formula) + "</code>") +
      (question.variant ? "<br>" + words("with:") + " <code>" +
                              escaped_html(fmt::format("{}", fmt::join(question.variant->settings, " "))) + "</code>"
                        : ""));
  if (question.drawn() && simulated) {
    const bool of_steps = question.answer_from.starts_with("steps");
    html += draw_field(of_steps ? sheet.steps : sheet.ranks, question.most, question.unit,
                       words(of_steps ? "step" : "rank"), std::get<std::vector<double>>(*simulated),
                       words("a field to draw on"));
  }
  if (!question.why.empty()) html += paragraph(words("Why:") + " " + inline_html_of(question.why));
  if (!question.mistakes.empty()) {
    html += "<table><tr><th>" + words("Common mistake") + "</th><th>" + words("Explanation") + "</th></tr>\n";
    for (const Mistake& mistake : question.mistakes)
      html += "<tr><td>" + inline_html_of(target_words(question, mistake.near, language)) + "</td><td>" +
              inline_html_of(mistake.because) + "</td></tr>\n";
    html += "</table>\n";
  }
  if (!question.hint.empty()) html += paragraph(words("Hint:") + " " + inline_html_of(question.hint));
  return html + "</div>\n";
}

std::string html_text_of(const std::string& markdown, bool answers) {
  return html_of(with_heading_level(answers ? markdown : without_answers(markdown), 3));
}

std::string about(const Lab& lab, const std::string& language) {
  std::string words = escaped_html(lab.summary);
  if (lab.minutes > 0) words += " " + fmt::format(fmt::runtime(handout_words("{} minutes.", language)), lab.minutes);
  if (!lab.needs.empty())
    words += " " +
             escaped_html(fmt::format(fmt::runtime(handout_words("After: {}.", language)), fmt::join(lab.needs, ", ")));
  return "<p class=\"about\">" + words + "</p>\n";
}

std::string sheet_html(const Sheet& sheet, const Handout& handout, bool alone) {
  const Lab& lab = sheet.lab;
  const LessonParts parts = parts_of(lab.text);
  const auto words = [&](std::string_view english) { return std::string(handout_words(english, handout.language)); };
  std::string html = "<section class=\"lesson\" id=\"" + escaped_html(lab.name()) + "\">\n";
  if (!alone) html += "<h2>" + escaped_html(lab.title) + "</h2>\n";
  html += about(lab, handout.language);
  if (handout.answers && !lab.teacher.empty())
    html +=
        "<div class=\"teacher\"><p><b>" + words("For the teacher") + "</b></p>\n" + html_of(lab.teacher) + "</div>\n";
  html += html_text_of(parts.before, handout.answers);
  if (!lab.questions.empty()) html += "<h3>" + words("Questions") + "</h3>\n";
  for (std::size_t i = 0; i < lab.questions.size(); ++i) {
    const Question& question = lab.questions[i];
    const auto simulated = i < sheet.simulated.size() ? sheet.simulated[i] : std::nullopt;
    html += "<div class=\"question\">\n" + paragraph(fmt::format("<b>{}.</b> ", i + 1) + inline_html_of(question.ask));
    html += handout.answers && question.kind != QuestionKind::choice ? ""
                                                                     : html_room_for(question, sheet, handout.language);
    if (handout.answers) html += html_answer_of(question, simulated, sheet, handout.language);
    html += "</div>\n";
  }
  html += "<div class=\"after\">\n" + html_text_of(parts.run, handout.answers);
  for (const Picture& picture : sheet.pictures)
    html += "<figure>" + picture.svg + "<figcaption>" + escaped_html(picture.caption) + "</figcaption></figure>\n";
  if (!sheet.unsimulated.empty()) html += "<p class=\"about\">" + escaped_html(sheet.unsimulated) + "</p>\n";
  return html + html_text_of(parts.after, handout.answers) + "</div>\n</section>\n";
}

}  // namespace

std::string handout_html(const Handout& handout) {
  const auto words = [&](std::string_view english) { return std::string(handout_words(english, handout.language)); };
  const std::string title = handout.title + (handout.answers ? words(" (teacher's edition)") : "");
  std::string html = "<!DOCTYPE html>\n<html lang=\"" + (handout.language.empty() ? "en" : handout.language) +
                     "\">\n<head><meta charset=\"utf-8\"><title>" + escaped_html(title) +
                     "</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n<style>" + std::string(style) +
                     "</style></head>\n<body>\n<h1>" + escaped_html(title) + "</h1>\n";
  if (!handout.summary.empty()) html += "<p class=\"about\">" + escaped_html(handout.summary) + "</p>\n";
  if (handout.answers && !handout.teacher.empty())
    html += "<div class=\"teacher\"><p><b>" + words("For the teacher") + "</b></p>\n" + html_of(handout.teacher) +
            "</div>\n";
  if (!handout.answers)
    html += "<p>" + words("Name:") + " <span class=\"blank\"></span> " + words("Date:") +
            " <span class=\"blank\"></span></p>\n";
  const bool alone = handout.sheets.size() == 1;
  for (const Sheet& sheet : handout.sheets) html += sheet_html(sheet, handout, alone);
  return html + "</body>\n</html>\n";
}

}  // namespace rankscope
