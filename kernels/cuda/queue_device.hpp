// A GPU as a device of the engine: queues are streams, marks are events with times.
#pragma once
#include <memory>

#include "kernels/device/device.hpp"

namespace rankscope::kernels {

/// The GPU with the runtime's index `index`. Times are of the device's own clock, which fit_clock() compares with the
/// host's: it enqueues an event on an empty stream and waits for it; the event's time is in between. Throws
/// DeviceError.
std::shared_ptr<Device> cuda_device(int index);

}  // namespace rankscope::kernels
