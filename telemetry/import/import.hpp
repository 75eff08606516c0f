// Files and folders of other programs' traces as one run: what `rankscope-trace import` and the window open.
#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "engine/base/progress/progress.hpp"
#include "telemetry/import/join.hpp"

namespace rankscope::import {

/// A file named as a trace (looks_like_trace), or a folder, of whatever content.
bool may_be_traces(const std::filesystem::path& input);

/// The traces among the files of a folder, by name; of a file itself. Throws ImportError if there are none.
std::vector<std::filesystem::path> traces_at(const std::filesystem::path& input);

/// Reads them and joins them; titled as their folder, or as the only file. Throws ImportError. What `progress` throws
/// ends it.
ImportedRun import_run(const std::vector<std::filesystem::path>& files, const Progress& progress = {});

}  // namespace rankscope::import
