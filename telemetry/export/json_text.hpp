// Quotes a text for JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace rankscope {

/// In quotes, with escapes; bytes that are no UTF-8 are replaced.
inline std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace rankscope
