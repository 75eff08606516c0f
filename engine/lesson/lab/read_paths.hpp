// Reads the paths that a question about optimizers on a surface needs. For this folder's files only.
#pragma once
#include <string>

#include "engine/lesson/descent/path.hpp"
#include "engine/plan/scenario/document.hpp"

namespace rankscope {

/// `item`: the key "paths". The paths shown are those of optimizers with a rate, and the one in `answer_from`
/// ("paths.sgd.reached"). Throws ScenarioError with position.
PathRequest read_path_request(const document::Item& item, const std::string& answer_from);

}  // namespace rankscope
