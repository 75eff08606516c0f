// Reads one [[lab.questions]] table. For this room's own files.
#pragma once
#include <string>

#include "engine/lesson/lab/question.hpp"
#include "engine/plan/scenario/document.hpp"

namespace rankscope {

/// `at`: where the table is. Throws ScenarioError with position for what makes no question.
Question read_question(const document::Table& table, const std::string& at);

}  // namespace rankscope
