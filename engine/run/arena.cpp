#include "engine/run/arena.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace rankscope {

Arena::Arena(std::int64_t bytes, int protection) : bytes_(bytes > 0 ? bytes : 1) {
  void* data = mmap(nullptr, static_cast<std::size_t>(bytes_), protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(data);
}

Arena::Arena(std::int64_t bytes) : Arena(bytes, PROT_READ | PROT_WRITE) {
  std::memset(data_, 0xFF, static_cast<std::size_t>(bytes_));
}

Arena Arena::addresses(std::int64_t bytes) { return {bytes, PROT_NONE}; }

Arena::~Arena() { munmap(data_, static_cast<std::size_t>(bytes_)); }

}  // namespace rankscope
