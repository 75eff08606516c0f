// Finds errors in a translation: missing or extra texts; links, commands and numbers of the original that it lacks; and
// an original that has changed since. Pure.
#pragma once
#include <string>
#include <vector>

#include "engine/lesson/lab/translation.hpp"

namespace rankscope {

/// One line each: "FILE:question 2: what is wrong; what would be right". Empty if there are none.
std::vector<std::string> faults_of(const LabTranslation& translation, const Lab& lab);
std::vector<std::string> faults_of(const CourseTranslation& translation, const Course& course);
std::vector<std::string> faults_of(const std::vector<TermTranslation>& translation, const Glossary& glossary);

}  // namespace rankscope
