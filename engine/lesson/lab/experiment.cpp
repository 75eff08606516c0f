#include "engine/lesson/lab/experiment.hpp"

#include <array>

#include "engine/lesson/lab/lesson_words.hpp"

namespace rankscope {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// As in a shell: quotes keep spaces.
std::vector<std::string> words_in(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false, any = false;
  std::string word;
  for (const char letter : line) {
    if (letter == '"') {
      quoted = !quoted;
      any = true;
    } else if (!quoted && blanks.find(letter) != std::string_view::npos) {
      if (any) words.push_back(word);
      word.clear();
      any = false;
    } else {
      word += letter;
      any = true;
    }
  }
  if (any) words.push_back(word);
  return words;
}

/// Calls `take` with each line.
template <class Take>
void each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<Experiment> experiment_of(std::string_view line) {
  constexpr std::string_view engine = "rankscope-engine", again = "…";
  Experiment experiment;
  experiment.line = trimmed(line);
  std::vector<std::string> words = words_in(line);
  if (!words.empty() && words.front() == again) words.erase(words.begin());
  if (words.empty()) return std::nullopt;
  std::size_t at = 0;
  if (words[0] == engine && words.size() > 1) {
    experiment.command = words[1];
    at = 2;
    if (at < words.size() && words[at].rfind("-", 0) != 0) experiment.scenario = words[at++];
  } else if (words[0] != "--set") {
    return std::nullopt;
  }
  while (at < words.size()) {
    if (words[at] == "--set" && at + 1 < words.size()) {
      experiment.settings.push_back(words[at + 1]);
      at += 2;
    } else {
      experiment.others.push_back(words[at++]);
    }
  }
  return experiment;
}

std::vector<Experiment> experiments_in(std::string_view text) {
  std::vector<Experiment> all;
  each_line(text, [&](std::string_view line) {
    if (line.rfind("    ", 0) != 0) return;
    if (auto one = experiment_of(line)) all.push_back(std::move(*one));
  });
  return all;
}

LessonParts parts_of(std::string_view text) {
  std::string before, run, after;
  std::string* part = &before;
  each_line(text, [&](std::string_view line) {
    const std::string_view heading = trimmed(line);
    if (heading_of(heading) == Heading::run && part == &before) part = &run;
    if (heading_of(heading) == Heading::after) part = &after;
    part->append(line).push_back('\n');
  });
  return {std::string(trimmed(before)), std::string(trimmed(run)), std::string(trimmed(after))};
}

}  // namespace rankscope
