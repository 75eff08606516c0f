#include "kernels/device/host.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "kernels/device/out_of_memory.hpp"
#include "kernels/tensor/sum.hpp"

namespace rankscope {

void HostQueue::copy(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void HostQueue::fill(void* to, std::uint8_t byte, std::int64_t bytes) {
  if (bytes > 0) std::memset(to, byte, static_cast<std::size_t>(bytes));
}

void HostQueue::sum(DType type, std::span<void* const> into, std::span<const void* const> parts,
                    std::int64_t elements) {
  if (into.size() == 1) {
    if (parts.size() == 2 && into[0] == parts[0]) return add_to(type, into[0], parts[1], elements);
    return sum_in_order(type, into[0], parts, elements);
  }
  // Block by block through a buffer that stays in cache, since the outputs may be the parts.
  constexpr std::int64_t block = 4096;
  alignas(64) std::byte sums[block * 8];
  const auto at = [width = bytes_of(type)](auto* data, std::int64_t element) {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(data)>>, const std::byte, std::byte>;
    return static_cast<Byte*>(data) + element * width;
  };
  std::vector<const void*> stretch(parts.size());
  for (std::int64_t begin = 0; begin < elements; begin += block) {
    const std::int64_t count = std::min(block, elements - begin);
    for (std::size_t p = 0; p < parts.size(); ++p) stretch[p] = at(parts[p], begin);
    sum_in_order(type, sums, stretch, count);
    for (void* to : into) std::memcpy(at(to, begin), sums, static_cast<std::size_t>(count * bytes_of(type)));
  }
}

namespace {

/// Limits, other than the machine's memory, that may make an allocation fail.
std::string address_space() {
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return {};
  return " in a process of at most " + std::to_string(space.rlim_cur >> 20) + " MiB (ulimit -v)";
}

}  // namespace

Memory HostDevice::reserve(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes > 0 ? bytes : 1);
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw OutOfMemory(bytes, "a tensor, or a rank's arena of them," + address_space());
  // Large pages if the system has them, for fewer address translations. A failure is ignored.
  madvise(data, size, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(data), [size](std::byte* own) { munmap(own, size); }};
}

}  // namespace rankscope
