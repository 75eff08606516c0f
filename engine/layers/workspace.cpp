#include <algorithm>
#include <new>

#include "engine/layers/bind.hpp"

namespace rankscope {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

void Workspace::require(std::int64_t bytes) { bytes_ = std::max(bytes_, bytes); }

void Workspace::reserve() {
  data_.reset(static_cast<std::byte*>(::operator new[](static_cast<std::size_t>(bytes_), alignment)),
              [](std::byte* data) { ::operator delete[](data, alignment); });
}

}  // namespace rankscope
