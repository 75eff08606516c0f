#include "engine/op/time_class.hpp"

namespace rankscope {

std::string_view name_of(TimeClass time) {
  switch (time) {
    case TimeClass::compute: return "compute";
    case TimeClass::recompute: return "recompute";
    case TimeClass::tensor: return "tensor";
    case TimeClass::pipeline: return "pipeline";
    case TimeClass::data: return "data";
    case TimeClass::zero: return "zero";
    case TimeClass::optimizer: return "optimizer";
    case TimeClass::bubble: return "bubble";
    case TimeClass::other: return "other";
  }
  return "?";
}

}  // namespace rankscope
