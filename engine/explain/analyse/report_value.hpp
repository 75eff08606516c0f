// One value of a report by its path, as in a lesson's question: "bubble.measured", "memory.0.activations" (rank
// 0), "traffic.pipeline_forward.bytes_per_rank", "steps.*.loss" (a value for each step).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/explain/analyse/report.hpp"

namespace rankscope {

/// The number at a path through objects and lists; an entry of a list is found by its rank, purpose or optimizer, or by
/// its place. nullopt if there is none, or it is null.
std::optional<double> value_at(const nlohmann::json& root, const std::string& path);

/// The measured or emulated value.
std::optional<double> value_at(const Report& report, const std::string& path);
/// The values at a path with "*", one for each entry of the list; NaN for unknown ones. Empty for other paths.
std::vector<double> series_at(const Report& report, const std::string& path);

/// The same for a report without a run: values that only a run has are replaced by their predictions.
/// "memory.0.activations" is then memory.0.predicted.activations.
std::optional<double> simulated_value_at(const Report& report, const std::string& path);
std::vector<double> simulated_series_at(const Report& report, const std::string& path);

}  // namespace rankscope
