#include "telemetry/page/page.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "page_parts/parts.hpp"

namespace rankscope {
namespace {

void put(std::string& page, std::string_view mark, std::string_view text) {
  const std::size_t at = page.find(mark);
  if (at == std::string::npos) throw std::logic_error("page.html has no " + std::string(mark));
  page.replace(at, mark.size(), text);
}

/// JSON in which no text can end the script element, which ends at "</".
std::string embedded(const nlohmann::json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

}  // namespace

std::string page_of(const StoreView& run, const PageOptions& options) {
  std::string page(page_parts::html);
  // From the end, so that inserted text cannot be mistaken for a placeholder.
  put(page, "@PAGE_JS@", page_parts::script);
  put(page, "@PAGE_DATA@", embedded(page_data(run, options)));
  put(page, "@PAGE_CSS@", page_parts::css);
  return page;
}

}  // namespace rankscope
