// Follows which lane waits for which, to the end: how a deadlock is reported.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

namespace rankscope {

/// The lanes from `lane` on, each of which waits for the next, which `next(lane)` says: the cycle alone where they come
/// round to one that was there, or all of them up to one that waits for nobody (nullopt).
template <class Lane, class Next>
std::vector<Lane> wait_chain(Lane lane, Next next) {
  std::vector<Lane> chain;
  for (std::optional<Lane> at = lane; at; at = next(*at)) {
    const auto known = std::find(chain.begin(), chain.end(), *at);
    if (known != chain.end()) {
      chain.erase(chain.begin(), known);
      break;
    }
    chain.push_back(*at);
  }
  return chain;
}

}  // namespace rankscope
