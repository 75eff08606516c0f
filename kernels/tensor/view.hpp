// A tensor's address, type and shape; it does not own the memory.
#pragma once
#include "kernels/tensor/type.hpp"

namespace rankscope {

struct View {
  void* data = nullptr;
  DType type = DType::f32;
  Shape shape;

  std::int64_t elements() const { return shape.elements(); }
  std::int64_t bytes() const { return elements() * bytes_of(type); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

}  // namespace rankscope
