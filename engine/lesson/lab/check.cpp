#include "engine/lesson/lab/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/lesson/lab/check_text.hpp"
#include "engine/lesson/lab/experiment.hpp"
#include "engine/lesson/lab/judge.hpp"
#include "engine/lesson/lab/printed.hpp"
#include "engine/op/contains.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope {
namespace {

constexpr std::string_view views[] = {"timeline", "memory",   "range",   "collectives", "training",
                                      "scaling",  "paths",    "formats", "validation",  "grid",
                                      "topology", "program",  "hang",    "compare",     "experiments",
                                      "search",   "roofline", "puzzle",  "plan",        "lab"};

std::string short_number(double value) {
  return fmt::format(fmt::runtime(std::fabs(value) < 1e4 ? "{:.4g}" : "{:.0f}"), value);
}

/// "27.27 %", "3.1 MiB".
std::string in_unit(double value, const Question& question) {
  return question.unit.empty() ? short_number(value) : short_number(value) + " " + question.unit;
}

/// Empty: the place exists.
std::string fault_of_place(const Target& target, const ClickedPlaces& places) {
  const auto no_rank = [&](int rank) {
    return rank < places.ranks ? std::string()
                               : fmt::format("there is no rank {}; the plan has ranks 0 to {}", rank, places.ranks - 1);
  };
  if (const auto* ranks = std::get_if<RankPattern>(&target))
    for (const int rank : ranks->ranks)
      if (const std::string fault = no_rank(rank); !fault.empty()) return fault;
  const auto* link = std::get_if<LinkPattern>(&target);
  if (link == nullptr) return {};
  for (const auto& end : {link->from, link->to})
    if (const std::string fault = end ? no_rank(*end) : std::string(); !fault.empty()) return fault;
  if (link->level.empty()) return {};
  std::vector<std::string> names;
  for (const auto& [name, units] : places.levels) {
    if (name == link->level && link->unit && *link->unit >= units)
      return fmt::format("there is no {} {}; the plan uses 0 to {}", name, *link->unit, units - 1);
    if (name == link->level) return {};
    names.push_back(name);
  }
  return no_such("level", link->level, names);
}

class LabCheck {
 public:
  LabCheck(const Lab& lab, const CheckAgainst& against) : lab_(lab), against_(against) {}

  std::vector<std::string> faults() {
    check_names();
    for (const std::string& fault : faults_of_text(lab_.text, view_names())) add_fault("text", fault);
    check_symbols("text", lab_.text);
    const std::string before = parts_of(lab_.text).before;
    for (std::size_t i = 0; i < lab_.questions.size(); ++i)
      check_question(lab_.questions[i], fmt::format("question {}", i + 1), before);
    return std::move(faults_);
  }

 private:
  void add_fault(const std::string& where, const std::string& what) {
    faults_.push_back(fmt::format("{}:{}: {}", lab_.file, where, what));
  }

  void check_names() {
    for (const std::string& need : lab_.needs)
      if (!contains(against_.labs, need)) add_fault("needs", no_such("lab", need, against_.labs));
    if (lab_.view.empty()) return;
    for (const std::string& fault : faults_of_view_link(lab_.view, views)) add_fault("view", fault);
  }

  void check_view(const std::string& where, const std::string& view) {
    if (!contains(views, view)) add_fault(where, no_such("view", view, {std::begin(views), std::end(views)}));
  }

  void check_symbols(const std::string& where, const std::string& text) {
    for (const std::string& symbol : undefined_symbols(text, lab_.symbols, against_.glossary))
      if (reported_symbols_.insert(symbol).second)
        add_fault(where,
                  fmt::format("the symbol '{}' is not defined; add it to [lab.symbols], such as {} = \"what it is, "
                              "with its unit\", or to the glossary",
                              symbol, symbol));
  }

  void check_question(const Question& question, const std::string& where, const std::string& before) {
    if (question.evidence) check_view(where, question.evidence->view);
    check_symbols(where, question.ask + "\n" + question.hint + "\n" + question.why);
    if (question.kind == QuestionKind::number) {
      if (question.hint.empty()) add_fault(where, "it has no hint; give hint = \"a step towards the answer\"");
      if (question.why.empty()) add_fault(where, "it has no why; give why = \"the reason, with the arithmetic\"");
    }
    if (question.kind == QuestionKind::point) check_places(question, where);
    const std::optional<Target> simulated = simulated_answer(question, where);
    std::optional<Target> truth = known_answer(question);
    if (!truth) truth = simulated;
    if (!truth) return;
    if (const auto printed = printed_answer(question, *truth, before))
      add_fault(where, fmt::format("the text prints the answer before Run: '{}'; remove it, or ask for something else",
                                   *printed));
    check_mistakes(question, where, *truth);
    if (question.kind == QuestionKind::number) {
      if (simulated) check_agreement(question, where, std::get<double>(*truth), std::get<double>(*simulated));
      check_range(question, where, std::get<double>(*truth));
    }
    if (question.drawn()) check_drawing(question, where, std::get<std::vector<double>>(*truth));
  }

  /// Ranks and links that the lesson's plan does not have can never be clicked.
  void check_places(const Question& question, const std::string& where) {
    if (!against_.places || question.at == PointAt::op) return;
    try {
      const ClickedPlaces places = against_.places(lab_);
      const auto check = [&](const Target& target) {
        const std::string fault = fault_of_place(target, places);
        if (!fault.empty()) add_fault(where, fault);
      };
      check(*question.answer);
      for (const Mistake& mistake : question.mistakes) check(mistake.near);
    } catch (const std::exception& error) {
      add_fault(where, fmt::format("its scenario cannot be compiled: {}", error.what()));
    }
  }

  /// In the question's unit.
  std::optional<Target> simulated_answer(const Question& question, const std::string& where) {
    if (question.answer_from.empty()) return std::nullopt;
    try {
      if (question.drawn()) {
        if (!against_.simulated_series) return std::nullopt;
        const std::vector<double> series = against_.simulated_series(lab_, question);
        const bool known = !series.empty() && std::ranges::all_of(series, [](double v) { return std::isfinite(v); });
        return known ? std::optional<Target>(series) : std::nullopt;
      }
      if (!against_.simulated) return std::nullopt;
      const auto value = against_.simulated(lab_, question);
      return value ? std::optional<Target>(*value) : std::nullopt;
    } catch (const std::exception& error) {
      add_fault(where, fmt::format("its scenario cannot be simulated: {}", error.what()));
      return std::nullopt;
    }
  }

  /// Compares the lesson's arithmetic or literal with the result of a simulation.
  void check_agreement(const Question& question, const std::string& where, double truth, double simulated) {
    const double off = std::fabs(truth - simulated);
    if (off <= question.tolerance) return;
    add_fault(where,
              fmt::format("{} to {} is accepted, which excludes the simulated {}; the {} gives {}: correct it, or "
                          "accept {} more or less",
                          short_number(truth - question.tolerance), in_unit(truth + question.tolerance, question),
                          in_unit(simulated, question), question.formula_value ? "formula" : "answer",
                          short_number(truth), in_unit(off, question)));
  }

  void check_range(const Question& question, const std::string& where, double truth) {
    const double tolerance = question.tolerance, size = std::fabs(truth);
    const std::string accepted =
        fmt::format("{} to {} is accepted", short_number(truth - tolerance), in_unit(truth + tolerance, question));
    if (size > 0 && tolerance >= size / 2)
      add_fault(where, fmt::format("{}, half of the value or more; a tolerance below {} would exclude a guess",
                                   accepted, in_unit(size / 2, question)));
    if (!question.is_percentage()) return;
    const double opposite = 100 - truth, apart = std::fabs(opposite - truth);
    if (apart > 1e-9 && apart <= tolerance)
      add_fault(where, fmt::format("{}, which includes the opposite answer, {}; a tolerance below {} would exclude it",
                                   accepted, in_unit(opposite, question), in_unit(apart, question)));
    constexpr double little = 1;  // a point: the smallest useful tolerance
    if (truth < 100 && truth > 50 && tolerance > little && tolerance >= opposite / 2)
      add_fault(where,
                fmt::format("{}, half of what is left to 100 % or more; a tolerance below {} would exclude a guess",
                            accepted, in_unit(std::max(opposite / 2, little), question)));
  }

  void check_mistakes(const Question& question, const std::string& where, const Target& truth) {
    for (const Mistake& mistake : question.mistakes) {
      std::string what;
      if (const auto* number = std::get_if<double>(&mistake.near)) {
        const double off = std::fabs(*number - std::get<double>(truth));
        if (off <= question.tolerance)
          what = fmt::format("the accepted range includes the mistake near {}; a tolerance below {} would exclude it",
                             in_unit(*number, question), in_unit(off, question));
      } else if (const auto* series = std::get_if<std::vector<double>>(&mistake.near)) {
        if (mean_distance(*series, std::get<std::vector<double>>(truth)) <= question.tolerance)
          what = "the accepted drawings include a mistake's; a smaller tolerance would exclude it";
      } else if (const auto* ranks = std::get_if<RankPattern>(&mistake.near)) {
        for (const int rank : ranks->ranks)
          if (std::get<RankPattern>(truth).matches({rank}))
            what = fmt::format("a mistake names rank {}, which is right; list wrong ones", rank);
      } else if (mistake.near == truth) {
        what = "a mistake is the right answer; list wrong answers";
      }
      if (!what.empty()) add_fault(where, what);
    }
  }

  void check_drawing(const Question& question, const std::string& where, const std::vector<double>& series) {
    const double mean = std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
    const std::vector<double> flat(series.size(), mean), reversed(series.rbegin(), series.rend());
    const double size = std::fabs(mean), to_flat = mean_distance(flat, series),
                 to_reversed = mean_distance(reversed, series);
    constexpr double same = 0.02;  // of the mean: then it is flat, or equal to its reverse
    if (question.tolerance >= size / 2 && size > 0)
      add_fault(where,
                fmt::format("a drawing that is {} off is accepted, half of the mean or more; a tolerance below {} "
                            "would exclude a guess",
                            in_unit(question.tolerance, question), in_unit(size / 2, question)));
    if (to_flat > same * size && to_flat <= question.tolerance)
      add_fault(where, fmt::format("a flat line is accepted; a tolerance below {} would exclude it",
                                   in_unit(to_flat, question)));
    if (to_reversed > same * size && to_reversed <= question.tolerance)
      add_fault(where, fmt::format("the reversed drawing is accepted; a tolerance below {} would exclude it",
                                   in_unit(to_reversed, question)));
  }

  const Lab& lab_;
  const CheckAgainst& against_;
  std::set<std::string> reported_symbols_;
  std::vector<std::string> faults_;
};

}  // namespace

std::span<const std::string_view> view_names() { return views; }

std::vector<std::string> faults_of(const Lab& lab, const CheckAgainst& against) {
  return LabCheck(lab, against).faults();
}

std::vector<std::string> faults_of(const Course& course, const std::vector<std::string>& labs) {
  std::vector<std::string> faults;
  std::set<std::string> seen;
  for (const CourseSection& section : course.sections)
    for (const std::string& name : section.labs) {
      const std::string where = fmt::format("{}:section '{}': ", course.file, section.title);
      if (!contains(labs, name)) faults.push_back(where + no_such("lab", name, labs));
      if (!seen.insert(name).second)
        faults.push_back(where + fmt::format("the lab '{}' is in the course twice; keep one", name));
    }
  return faults;
}

std::vector<std::string> faults_of(const Glossary& glossary, const std::vector<std::string>& labs) {
  std::vector<std::string> faults;
  for (const Term& term : glossary.terms())
    if (!term.see.empty() && !contains(labs, term.see))
      faults.push_back(fmt::format("glossary.toml:term '{}': see: {}", term.name, no_such("lab", term.see, labs)));
  return faults;
}

}  // namespace rankscope
