// Checks whether a text prints the answer of a question before it is asked. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/lab/question.hpp"

namespace rankscope {

/// A number as a text prints it, with what stands behind it.
struct PrintedNumber {
  double value = 0;
  double half_digit = 0.5;  ///< half of its last printed digit
  std::string words;        ///< as it is printed: "27.3%"
  std::string unit;         ///< one of Question::unit; empty where none of these is behind it
  std::string noun;         ///< the word behind it, letters alone: "buckets"
};
/// Those of a text, in order. In a list ("1.0 and 2.2 MiB") all have the unit of the last. In a table a number has the
/// unit that the head of its column, or of the first column, ends with.
std::vector<PrintedNumber> numbers_in(std::string_view text);

/// The part of `text` that contains the answer; nullopt if there is none. A number with the question's
/// unit that agrees with `truth` to its last printed digit (or that is accepted, where only a run gives the truth), a
/// fraction of that value, the words of an option (where not
/// all options are named), the items in their order. Of a question without a unit only numbers that the text counts
/// the same things with, or that are too special to be anything else.
std::optional<std::string> printed_answer(const Question& question, const Target& truth, std::string_view text);

}  // namespace rankscope
