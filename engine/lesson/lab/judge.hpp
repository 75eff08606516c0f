// Compares a student's answer with the right one, and recognises common mistakes. Pure.
#pragma once
#include <string>

#include "engine/lesson/lab/question.hpp"

namespace rankscope {

/// close: right by the tolerance, but a large error for such a small value.
enum class Grade : std::uint8_t { right, close, wrong };

struct Reply {
  Grade grade = Grade::wrong;
  /// Of a number, answer minus truth in the unit; of a drawing the mean distance of its points. 0 otherwise.
  double off = 0;
  std::string because;  ///< the reason of the recognised mistake; empty: none, or it is right
  bool accepted() const { return grade != Grade::wrong; }
  bool operator==(const Reply&) const = default;
};

/// `truth` is known_answer() or the result of a run. An attempt of another kind than the question's is wrong.
Reply judge(const Question& question, const Attempt& attempt, const Target& truth);

/// Mean distance of two drawings over the points that both have, without unknown ones.
double mean_distance(const std::vector<double>& drawn, const std::vector<double>& series);

/// How far from a mistake's number an answer still counts as that mistake: the question's tolerance, limited so that
/// the range does not overlap the accepted one.
double mistake_range(const Question& question, double mistake, double truth);

}  // namespace rankscope
