#include "engine/execute/run/arena.hpp"

#include <sys/mman.h>

#include <cstring>

#include "kernels/device/out_of_memory.hpp"

namespace rankscope {
namespace {

constexpr std::uint8_t poison = 0xFF;

}  // namespace

Arena::Arena(Device& device, std::int64_t bytes, std::int64_t host_bytes)
    : bytes_(bytes), host_bytes_(host_bytes), device_(device.reserve(bytes)) {
  const std::unique_ptr<Queue> queue = device.make_queue();
  queue->fill(device_.get(), poison, bytes);
  if (host_bytes > 0) {
    host_ = device.reserve_host(host_bytes);
    std::memset(host_.get(), poison, host_bytes);
  }
  if (const Mark filled = queue->mark()) filled->wait();
}

Arena Arena::addresses(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes > 0 ? bytes : 1);
  void* data = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw OutOfMemory(bytes, "the address space of a rank's tensors");
  Arena arena;
  arena.bytes_ = bytes;
  arena.device_ = {static_cast<std::byte*>(data), [size](std::byte* own) { munmap(own, size); }};
  return arena;
}

}  // namespace rankscope
