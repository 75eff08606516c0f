#include "engine/predict/cost/host_copies.hpp"

#include <algorithm>

#include "engine/predict/cost/device.hpp"
#include "engine/predict/network/link.hpp"

namespace rankscope {
namespace {

double element_bytes(DType type) { return static_cast<double>(bytes_of(type)); }

/// Bytes that the host's update reads and writes for these parameters: gradients, states of `states` bytes each with
/// their fp32 copy, the parameters to be sent; with a loss scale gradients are divided by it first.
double host_update_bytes(DType type, double elements, double states, bool loss_scale) {
  const double gradient = std::max(4.0, element_bytes(type));
  const double sent = element_bytes(type) < 4 ? element_bytes(type) : 0;  // wider ones are the host's own
  return elements * (gradient + 2 * states + sent + (loss_scale ? 2 * gradient : 0));
}

}  // namespace

bool keeps_gradients_on_host(const Scenario& scenario) {
  return scenario.plan.offload == Offload::optimizer && scenario.cluster.software.host_gradients;
}

double host_gradient_bytes(DType type, double elements, bool is_first) {
  return elements * element_bytes(type) * (is_first ? 1 : 2);
}

double host_widening_bytes(DType type, double elements) { return elements * std::max(0.0, 4 - element_bytes(type)); }

double host_copy_seconds(const ClusterSpec& cluster, double bytes) {
  return bytes / positive_figure(cluster.host_bandwidth, "host_bandwidth", cluster);
}

double host_end_seconds(const ClusterSpec& cluster, DType type, double elements, double states, bool loss_scale) {
  const double update = host_update_bytes(type, elements, states, loss_scale) /
                        positive_figure(cluster.host_memory_bandwidth, "host_memory_bandwidth", cluster);
  return host_copy_seconds(cluster, host_widening_bytes(type, elements)) +
         std::max(update, host_copy_seconds(cluster, elements * element_bytes(type)));
}

}  // namespace rankscope
