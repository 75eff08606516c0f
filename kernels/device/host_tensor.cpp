#include "kernels/device/host_tensor.hpp"

namespace rankscope {
namespace {

void finish(Queue& queue) {
  if (const Mark mark = queue.mark()) mark->wait();
}

}  // namespace

HostTensor HostTensor::to_write(Device& device, const View& tensor) {
  HostTensor result;
  result.there_ = result.here_ = tensor;
  if (!device.is_host()) {
    result.copy_ = {new std::byte[tensor.bytes() + 1], std::default_delete<std::byte[]>()};
    result.here_.data = result.copy_.get();
  }
  return result;
}

HostTensor HostTensor::read(Device& device, Queue& queue, const View& tensor) {
  HostTensor result = to_write(device, tensor);
  queue.copy(result.here_.data, tensor.data, tensor.bytes());
  finish(queue);
  return result;
}

void HostTensor::write_back(Queue& queue) const {
  queue.copy(there_.data, here_.data, here_.bytes());
  finish(queue);
}

}  // namespace rankscope
