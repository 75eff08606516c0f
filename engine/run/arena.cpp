#include "engine/run/arena.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace rankscope {

Arena::Arena(std::int64_t bytes) : bytes_(bytes > 0 ? bytes : 1) {
  void* data =
      mmap(nullptr, static_cast<std::size_t>(bytes_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(data);
  std::memset(data_, 0xFF, static_cast<std::size_t>(bytes_));
}

Arena::~Arena() { munmap(data_, static_cast<std::size_t>(bytes_)); }

}  // namespace rankscope
