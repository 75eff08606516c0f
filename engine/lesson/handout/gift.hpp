// A lesson's questions as a quiz that Moodle imports: GIFT (docs.moodle.org, "GIFT format"). Pure.
#pragma once
#include <string>
#include <vector>

#include "engine/lesson/handout/handout.hpp"

namespace rankscope {

struct Quiz {
  std::string text;
  int asked = 0;                      ///< questions in it
  std::vector<std::string> left_out;  ///< "walls 3, a drawing": questions that such a quiz cannot ask
};

/// Numbers with their tolerance, and mistakes as answers with no points that give their reason; choices with the reason
/// of each wrong option; orders as a matching of places with items. A category for each lesson. Drawings, clicked ops,
/// and numbers that only a run gives are left out; a comment at the end lists them.
Quiz gift(const Handout& handout);

}  // namespace rankscope
