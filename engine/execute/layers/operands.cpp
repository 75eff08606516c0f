#include "engine/execute/layers/operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

std::string text_of(const Shape& shape) {
  std::string text = "[";
  for (int axis = 0; axis < shape.rank; ++axis) text += fmt::format("{}{}", axis ? ", " : "", shape[axis]);
  return text + "]";
}

}  // namespace

std::string describe(const SegmentSpec& segment, const char* direction) {
  const std::string block = segment.block >= 0 ? fmt::format("b{}.", segment.block) : "";
  return fmt::format("{} of {}{}", direction, block, name_of(segment.kind));
}

View Operands::take(const Shape& shape, DType type, const std::string& what) {
  const std::string where = fmt::format("{}: operand {}, {}", describe(segment_, direction_), next_, what);
  if (next_ >= views_.size()) throw std::invalid_argument(where + ", is missing");
  const View view = views_[next_++];
  if (view.type != type || view.elements() != shape.elements())
    throw std::invalid_argument(fmt::format("{}, should be {} {} and is {} {}", where, name_of(type), text_of(shape),
                                            name_of(view.type), text_of(view.shape)));
  if (view.data == nullptr) throw std::invalid_argument(where + ", has no memory");
  return {view.data, type, shape};
}

View Operands::tensor(TensorName name) {
  const TensorSpec* spec = find_tensor(model_, segment_, name);
  if (spec == nullptr) throw std::invalid_argument("the model has no tensor " + std::string(name_of(name)));
  return take(spec->shape, spec->type, std::string(name_of(name)));
}

View Operands::parameter(int index) {
  const ParameterSpec& spec = model_.parameters.at(segment_.parameters.at(index));
  return take(spec.shape, model_.type, spec.name);
}

View Operands::gradient(int index) {
  const ParameterSpec& spec = model_.parameters.at(segment_.parameters.at(index));
  return take(spec.shape, accumulation_type(model_.type), "gradient of " + spec.name);
}

void Operands::finish() const {
  if (next_ != views_.size())
    throw std::invalid_argument(fmt::format("{} takes {} and was given {}", describe(segment_, direction_),
                                            counted(next_, "operand"), views_.size()));
}

}  // namespace rankscope
