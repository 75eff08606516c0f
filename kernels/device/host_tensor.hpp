// Host access to a device's tensor: the tensor itself if the host can read it, else a copy.
#pragma once
#include <memory>

#include "kernels/device/device.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

class HostTensor {
 public:
  /// For writing: the previous content is unspecified.
  static HostTensor to_write(Device& device, const View& tensor);
  /// Waits until everything enqueued before on `queue` is done, and the content is on the host.
  static HostTensor read(Device& device, Queue& queue, const View& tensor);

  const View& view() const { return here_; }
  /// Copies the host's content to the device's memory, and waits for it.
  void write_back(Queue& queue) const;

 private:
  View there_, here_;
  Memory copy_;  ///< null: `here` is `there`
};

}  // namespace rankscope
