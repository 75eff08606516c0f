#include "engine/plan/scenario/advice.hpp"

#include <algorithm>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

constexpr int most_tried = 64;  // suitable numbers in each direction

}  // namespace

bool Advisor::works(const Changes& changes) const {
  if (!culprits_) return true;
  Scenario changed = scenario_;
  try {
    for (const auto& [key, value] : changes) set_value(changed, {key, value}, "advice");
  } catch (const ScenarioError&) {  // no such number
    return false;
  }
  const std::vector<std::string> culprits = culprits_(changed);
  return std::ranges::none_of(changes, [&](const auto& change) { return contains(culprits, change.first); });
}

std::vector<std::string> Advisor::numbers_near(const std::string& key, std::int64_t requested, std::int64_t greatest,
                                               const std::function<bool(std::int64_t)>& suits) const {
  std::vector<std::string> near;
  for (const int direction : {-1, 1}) {
    int tried = 0;
    for (std::int64_t n = requested + direction; n >= 1 && n <= greatest && tried < most_tried; n += direction) {
      if (!suits(n)) continue;
      ++tried;
      if (!works({{key, std::to_string(n)}})) continue;
      near.push_back(std::to_string(n));
      break;
    }
  }
  return near;
}

std::vector<std::string> Advisor::divisors_near(const std::string& key, std::int64_t n, std::int64_t requested) const {
  return numbers_near(key, std::min(requested, n + 1), n, [n](std::int64_t divisor) { return n % divisor == 0; });
}

std::vector<std::string> Advisor::multiples_near(const std::string& key, std::int64_t n, std::int64_t requested) const {
  return numbers_near(key, requested, requested + most_tried * n,
                      [n](std::int64_t multiple) { return multiple % n == 0; });
}

std::vector<std::string> Advisor::working(const std::string& key, std::vector<std::string> words) const {
  std::erase_if(words, [&](const std::string& word) { return !works({{key, word}}); });
  return words;
}

std::string would_do(const std::vector<std::pair<std::string, std::vector<std::string>>>& options) {
  std::string text;
  for (const auto& [key, values] : options)
    if (!values.empty())
      text += (text.empty() ? "" : ", or ") + key + " = " + listed(values, "or") + (text.empty() ? " would do" : "");
  return text;
}

}  // namespace rankscope
