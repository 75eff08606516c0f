// Tested advice: the alternatives in an error message have been checked, so that they are accepted.
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
  /// Keys with other values, in TOML syntax; strings without quotes.
  using Changes = std::vector<std::pair<std::string, std::string>>;
  /// The keys for which a changed scenario is rejected; none if it is accepted.
  using Culprits = std::function<std::vector<std::string>(const Scenario&)>;

  /// Without `culprits` every value counts as working: nothing is tried.
  Advisor(const Scenario& scenario, Culprits culprits) : scenario_(scenario), culprits_(std::move(culprits)) {}

  /// True if the scenario with these changes is accepted, or is rejected for none of these keys.
  bool works(const Changes& changes) const;
  /// Of 1 … `greatest`, the nearest numbers below and above the `requested` value of the key that suit and work.
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

/// "heads = 4 or 8 would do, or width = 48", for each key (its name) its values, if any; empty if
/// no key has any.
std::string would_do(const std::vector<std::pair<std::string, std::vector<std::string>>>& options);

}  // namespace rankscope
