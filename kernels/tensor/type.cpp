#include "kernels/tensor/type.hpp"

#include <stdexcept>
#include <string>

namespace rankscope {

std::string_view name_of(DType type) {
  switch (type) {
    case DType::f64: return "fp64";
    case DType::f32: return "fp32";
    case DType::bf16: return "bf16";
    case DType::f16: return "fp16";
    case DType::i32: return "i32";
    case DType::u8: return "u8";
  }
  return "?";
}

DType dtype_named(std::string_view name) {
  for (DType t : {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i32, DType::u8})
    if (name == name_of(t)) return t;
  throw std::invalid_argument("unknown element type '" + std::string(name) +
                              "'; known: fp64, fp32, bf16, fp16, i32, u8");
}

}  // namespace rankscope
