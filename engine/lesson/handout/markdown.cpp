#include "engine/lesson/handout/markdown.hpp"

#include <md4c-html.h>

#include <stdexcept>

#include "engine/lesson/lab/lesson_words.hpp"

namespace rankscope {
namespace {

constexpr unsigned dialect = MD_FLAG_TABLES | MD_FLAG_NOHTML | MD_FLAG_STRIKETHROUGH | MD_FLAG_PERMISSIVEURLAUTOLINKS;

/// Calls `take` with each line, including its end.
template <class Take>
void each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take(text.substr(0, end == std::string_view::npos ? end : end + 1));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string html_of(std::string_view markdown) {
  const std::string text = without_view_links(markdown);
  std::string html;
  const auto add = [](const char* part, MD_SIZE size, void* to) { static_cast<std::string*>(to)->append(part, size); };
  if (md_html(text.data(), static_cast<MD_SIZE>(text.size()), add, &html, dialect, 0) != 0)
    throw std::runtime_error("a lesson's text cannot be read as Markdown");
  return html;
}

std::string inline_html_of(std::string_view markdown) {
  std::string html = html_of(markdown);
  constexpr std::string_view begin = "<p>", end = "</p>\n";
  if (html.starts_with(begin) && html.ends_with(end) && html.find(begin, 1) == std::string::npos)
    html = html.substr(begin.size(), html.size() - begin.size() - end.size());
  return html;
}

std::string escaped_html(std::string_view text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  return result;
}

std::string without_view_links(std::string_view markdown) {
  constexpr std::string_view target = "](view:";
  std::string result;
  for (std::size_t at = 0; at < markdown.size();) {
    const std::size_t link = markdown.find(target, at);
    const std::size_t end = link == std::string_view::npos ? link : markdown.find(')', link);
    const std::size_t words = link == std::string_view::npos ? link : markdown.rfind('[', link);
    if (end == std::string_view::npos || words == std::string_view::npos || words < at) {
      result += markdown.substr(at);
      break;
    }
    result += markdown.substr(at, words - at);
    result += markdown.substr(words + 1, link - words - 1);
    at = end + 1;
  }
  return result;
}

std::string without_answers(std::string_view markdown) {
  std::string result;
  bool in_answer = false;
  each_line(markdown, [&](std::string_view line) {
    const bool quoted = line.starts_with('>');
    const std::size_t words = line.find_first_not_of("> ");
    const bool begins = quoted && words != std::string_view::npos && !answer_word_of(line.substr(words)).empty();
    in_answer = begins || (in_answer && quoted);
    if (!in_answer) result += line;
  });
  return result;
}

std::string with_folded_answers(std::string_view html) {
  constexpr std::string_view begin = "<blockquote>\n<p>", end = "</blockquote>";
  std::string result;
  for (std::size_t at = 0; at < html.size();) {
    const std::size_t from = html.find(begin, at), to = from == std::string_view::npos ? from : html.find(end, from);
    result += html.substr(at, from == std::string_view::npos ? from : from - at);
    if (to == std::string_view::npos) break;
    const std::size_t words = from + begin.size();
    const std::string_view answer = answer_word_of(html.substr(words));
    if (answer.empty()) {  // any other quote
      result.append(html.substr(from, to + end.size() - from));
    } else {
      result.append("<details><summary>").append(answer.substr(0, answer.size() - 1)).append("</summary>\n<p>");
      result.append(html.substr(words + answer.size(), to - words - answer.size())).append("</details>");
    }
    at = to + end.size();
  }
  return result;
}

std::string with_heading_level(std::string_view markdown, int level) {
  std::string result;
  each_line(markdown, [&](std::string_view line) {
    if (line.starts_with("## ")) {
      result.append(level, '#');
      line.remove_prefix(2);
    }
    result += line;
  });
  return result;
}

}  // namespace rankscope
