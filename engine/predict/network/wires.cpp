#include "engine/predict/network/wires.hpp"

#include <algorithm>

#include "engine/predict/network/link.hpp"
#include "engine/predict/network/network.hpp"

namespace rankscope {

Wires::Wires(const ClusterSpec& cluster, int devices)
    : devices_per_card_(cluster.devices_per_card), devices_per_node_(std::max(1, cluster.devices_per_node)) {
  if (devices > devices_per_node_) positive_figure(cluster.inter_bandwidth, "inter_bandwidth", cluster);
  for (const NetworkLevel& level : network_levels(cluster)) {
    const bool is_node = level.unit == NetworkUnit::node;
    int ports = level.devices;
    if (is_node && cluster.rails > 0) ports = std::min(cluster.rails, ports);
    if (level.unit == NetworkUnit::leaf_switch) ports = 1;
    levels_.push_back({level.devices, ports, links()});
    const int units = (devices + level.devices - 1) / level.devices;
    for (int unit = 0; unit < units; ++unit) {
      const double slower = is_node && unit == cluster.slow_node ? cluster.slow_node_factor : 1;
      rates_.insert(rates_.end(), static_cast<std::size_t>(2 * ports), level.way_out / ports / slower);
    }
  }
}

int Wires::link(const Level& level, int device, int direction) const {
  const int unit = device / level.devices, port = device % level.devices * level.ports / level.devices;
  return level.first + (unit * level.ports + port) * 2 + direction;
}

WirePath Wires::way(int from, int to, const HopLatencies& hops) const {
  WirePath path;
  for (const Level& level : levels_) {
    if (from / level.devices == to / level.devices) break;
    path.links[path.count++] = link(level, from, 0);
    path.links[path.count++] = link(level, to, 1);
  }
  const bool on_a_card = devices_per_card_ > 1 && from / devices_per_card_ == to / devices_per_card_;
  const bool near = from / devices_per_node_ == to / devices_per_node_;
  path.latency = on_a_card ? hops.card : near ? hops.intra : hops.inter;
  return path;
}

}  // namespace rankscope
