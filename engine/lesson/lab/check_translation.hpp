// What is wrong with a translation: words that are missing or too many, links, commands and numbers that the original
// has and it has not, and an original that was changed since. Pure.
#pragma once
#include <string>
#include <vector>

#include "engine/lesson/lab/translation.hpp"

namespace rankscope {

/// One line each: "FILE:question 2: what is wrong; what would be right". Empty where nothing is.
std::vector<std::string> faults_of(const LabTranslation& translation, const Lab& lab);
std::vector<std::string> faults_of(const CourseTranslation& translation, const Course& course);
std::vector<std::string> faults_of(const std::vector<TermTranslation>& translation, const Glossary& glossary);

}  // namespace rankscope
