// The links of a cluster, one by one, and the route through them between any two devices.
//
// A device has its own link; a card has one uplink for each of its devices; a node has its network ports, of which
// a device uses the nearest (the first of eight devices the first of four ports, and so on; those of cluster.slow_node
// are slow); a leaf switch has one bundle of uplinks. Each link has its full rate in both directions at once. A route
// leaves all units that contain the sender and not the receiver, and enters those that contain only the receiver.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Seconds from sending a byte to its arrival, by the largest unit that it leaves.
struct HopLatencies {
  double card = 0;   ///< between two devices of a card
  double intra = 0;  ///< of a node
  double inter = 0;  ///< between nodes
};

/// The links of a route between two devices: at most one out of and one into a unit of each kind.
struct WirePath {
  std::array<int, 8> links{};
  int count = 0;
  double latency = 0;
  std::span<const int> each() const { return {links.data(), static_cast<std::size_t>(count)}; }
};

class Wires {
 public:
  /// Between this number of devices. Throws std::invalid_argument if the cluster lacks a figure.
  Wires(const ClusterSpec& cluster, int devices);

  int links() const { return static_cast<int>(rates_.size()); }
  /// Bytes/s each way, efficiencies of collectives included.
  double rate(int link) const { return rates_[link]; }
  WirePath way(int from, int to, const HopLatencies& hops) const;
  /// Devices in the largest unit that has an uplink: two devices that are further apart share no link.
  int devices_of_widest() const { return levels_.empty() ? 1 : levels_.back().devices; }

 private:
  struct Level {
    int devices = 1, ports = 1;  ///< of one unit
    int first = 0;               ///< the first unit's first link
  };
  int link(const Level& level, int device, int direction) const;

  std::vector<Level> levels_;  ///< from the device outwards
  std::vector<double> rates_;
  int devices_per_card_, devices_per_node_;
};

}  // namespace rankscope
