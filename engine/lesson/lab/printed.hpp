// Checks whether a text contains the answer of a question before it is asked. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/lab/question.hpp"

namespace rankscope {

/// A number as printed in a text, with the words after it.
struct PrintedNumber {
  double value = 0;
  double half_digit = 0.5;  ///< half of its last printed digit
  std::string words;        ///< as printed: "27.3%"
  std::string unit;         ///< one of Question::unit; empty if none of these follows
  std::string noun;         ///< the word after it, only letters: "buckets"
};
/// The numbers of a text, in order. In a list ("1.0 and 2.2 MiB") all have the unit of the last. In a table a number
/// has the unit at the end of the head of its column, or else of the first column.
std::vector<PrintedNumber> numbers_in(std::string_view text);

/// The part of `text` that contains the answer; nullopt if there is none: a number with the question's unit that agrees
/// with `truth` to its last printed digit (or that is accepted, if only a run gives the truth), a fraction of that
/// value, the words of an option (unless all options are named), or the items in their order. For a question without a
/// unit: only numbers that count the same things in the text, or that are too specific to mean anything else.
std::optional<std::string> printed_answer(const Question& question, const Target& truth, std::string_view text);

}  // namespace rankscope
