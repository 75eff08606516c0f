// Shared by the exports: the selection of data from the store, and texts in JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "telemetry/export/export.hpp"

namespace rankscope {

/// The lanes to be exported, in order.
std::vector<LaneKey> lanes_of(const StoreView& run, const ExportOptions& options);
/// The time to be exported of one origin: everything, ends included, if no range was requested.
TimeRange range_of(const StoreView& run, Obtained obtained, const ExportOptions& options);

/// In quotes, with escapes; bytes that are not UTF-8 are replaced.
inline std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace rankscope
