// The data of a page for one origin: spans, memory, and the shares of its steps. For page_data.cpp.
#pragma once
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/explain/facts/facts.hpp"
#include "telemetry/page/page.hpp"

namespace rankscope {

/// "zero_gather" as "zero gather".
inline std::string spaced(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// Ops by number, shared by all origins of a page, and the bytes that they move.
class PageOps {
 public:
  explicit PageOps(const PageOptions& options) : options_(options) {}
  /// An op that `rank` has run.
  std::size_t number_of(int rank, OpId op);
  /// -1 for an op that is not on the page.
  std::int64_t find(OpId op) const;
  /// [token, class, words, block, micro-batch] of each.
  nlohmann::json ops() const { return ops_; }
  /// "rank:op" → bytes.
  nlohmann::json bytes() const { return bytes_; }

 private:
  const PageOptions& options_;
  std::map<OpId, std::size_t> numbers_;
  nlohmann::json ops_ = nlohmann::json::array(), bytes_ = nlohmann::json::object();
};

/// The steps of one origin on a page.
struct PageSteps {
  Obtained obtained = Obtained::measured;
  std::vector<std::uint32_t> all, shown;  ///< `shown` is the end of `all`
  std::size_t spans = 0;                  ///< of those that are shown
};
PageSteps choose_steps(const StoreView& run, Obtained obtained, std::size_t most_spans);

/// Times are nanoseconds from the first shown step's begin. `context` is null if the programs are not known: then steps
/// have no shares. `losses` are by step.
nlohmann::json page_kind(const StoreView& run, const PageSteps& steps, const RunContext* context,
                         const std::map<std::uint32_t, double>& losses, const std::string& words, PageOps& ops);

}  // namespace rankscope
