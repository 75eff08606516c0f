// Follows the chain of lanes that wait for each other, to report a deadlock.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

namespace rankscope {

/// The lanes from `lane` on, each of which waits for the next, `next(lane)`: only the cycle if the chain
/// returns to an earlier lane, else all lanes up to one that waits for no lane (nullopt).
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
