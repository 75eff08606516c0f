// Reads one [[lab.questions]] table. For this folder's files only.
#pragma once
#include <string>

#include "engine/lesson/lab/question.hpp"
#include "engine/plan/scenario/document.hpp"

namespace rankscope {

/// `at`: the table's position. Throws ScenarioError with position for an invalid question.
Question read_question(const document::Table& table, const std::string& at);

}  // namespace rankscope
