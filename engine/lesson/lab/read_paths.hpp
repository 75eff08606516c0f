// Reads the paths that a question about optimizers on a surface asks for. For this room's own files.
#pragma once
#include <string>

#include "engine/lesson/descent/path.hpp"
#include "engine/plan/scenario/document.hpp"

namespace rankscope {

/// `item`: the key "paths". Paths of the optimizers with a rate are shown, and of the one that `answer_from`
/// ("paths.sgd.reached") asks for. Throws ScenarioError with position.
PathRequest read_path_request(const document::Item& item, const std::string& answer_from);

}  // namespace rankscope
