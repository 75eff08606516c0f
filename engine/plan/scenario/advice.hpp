// Tested advice: the alternatives in a refusal have been checked, so that following them is not refused.
// For this folder's own files.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

class Advisor {
 public:
  /// Keys with other values, in TOML's words; a string without quotes.
  using Changes = std::vector<std::pair<std::string, std::string>>;
  /// The keys that a changed scenario is refused for; none where it is accepted.
  using Culprits = std::function<std::vector<std::string>(const Scenario&)>;

  /// Without `culprits` everything works: nothing is tried.
  Advisor(const Scenario& scenario, Culprits culprits) : scenario_(scenario), culprits_(std::move(culprits)) {}

  /// True when the scenario so changed is accepted, or is refused for none of these keys.
  bool works(const Changes& changes) const;
  /// Of 1 … `greatest` the numbers next to the key's value `wanted`, below and above, that suit and work.
  std::vector<std::string> numbers_near(const std::string& key, std::int64_t requested, std::int64_t greatest,
                                        const std::function<bool(std::int64_t)>& suits) const;
  std::vector<std::string> divisors_near(const std::string& key, std::int64_t n, std::int64_t requested) const;
  std::vector<std::string> multiples_near(const std::string& key, std::int64_t n, std::int64_t requested) const;
  /// Those of `words` that work.
  std::vector<std::string> working(const std::string& key, std::vector<std::string> words) const;

 private:
  const Scenario& scenario_;
  Culprits culprits_;
};

/// "heads = 4 or 8 would do, or width = 48", of each key (its name) those of its values that there are; nothing where
/// no key has any.
std::string would_do(const std::vector<std::pair<std::string, std::vector<std::string>>>& options);

}  // namespace rankscope
