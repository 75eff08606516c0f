// Finds errors in a readable lesson file: an answer printed in its text, a tolerance that accepts anything or rejects
// the lesson's own arithmetic, an undefined symbol, an unknown name. Pure.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/lesson/lab/course.hpp"
#include "engine/lesson/lab/glossary.hpp"
#include "engine/lesson/lab/lab.hpp"

namespace rankscope {

/// The views of the window, by their names in [lab] view, evidence and links.
std::span<const std::string_view> view_names();

/// What can be clicked in the views of a lesson's own scenario.
struct ClickedPlaces {
  int ranks = 0;
  std::vector<std::pair<std::string, int>> levels{};  ///< of its cluster's links, each with its number of units
};

/// The data that a lesson is checked with.
struct CheckAgainst {
  Glossary glossary{};
  std::vector<std::string> labs{};  ///< names of all existing ones
  /// The result of simulating the question's scenario, in the question's unit; nullopt if it cannot be simulated
  /// (a loss). Its exceptions become faults. Empty: nothing is simulated.
  std::function<std::optional<double>(const Lab&, const Question&)> simulated{};
  /// The same for a question that is drawn; empty if it is not simulated.
  std::function<std::vector<double>(const Lab&, const Question&)> simulated_series{};
  /// Empty: clicked ranks and links are not checked.
  std::function<ClickedPlaces(const Lab&)> places{};
};

/// One line each: "FILE:question 2: error; correction". Empty if there are none.
std::vector<std::string> faults_of(const Lab& lab, const CheckAgainst& against);
/// Names of labs that do not exist, or that are listed twice.
std::vector<std::string> faults_of(const Course& course, const std::vector<std::string>& labs);

/// Terms whose `see` names a lab that does not exist.
std::vector<std::string> faults_of(const Glossary& glossary, const std::vector<std::string>& labs);

}  // namespace rankscope
