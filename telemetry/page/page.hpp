// Writes a recording as one HTML file for a course page: time line, memory, shares of each step, the lesson's text.
// Opened from disk; it loads nothing, and draws with the JavaScript and canvas code beside this header.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

struct PageOptions {
  std::string file;                  ///< name of the recording, as the page states it
  std::string lesson;                ///< Markdown; empty: none
  std::optional<Obtained> obtained;  ///< only events obtained in this way; otherwise all, the main origin first
  /// More spans make a page slow: then it has only the last steps within this limit (at least one) and a note about it.
  std::size_t most_spans = 20'000;
  /// The number of bytes an op of a rank moves; nullopt: none, or unknown.
  std::function<std::optional<std::int64_t>(int rank, OpId op)> bytes = {};
};

/// The page. Throws like report_of (engine/explain/facts/prediction.hpp), and std::invalid_argument if there is nothing
/// to draw.
std::string page_of(const StoreView& run, const PageOptions& options);
/// The data embedded in it. Figures are printed as in the report.
nlohmann::json page_data(const StoreView& run, const PageOptions& options);

}  // namespace rankscope
