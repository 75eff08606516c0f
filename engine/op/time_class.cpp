#include "engine/op/time_class.hpp"

#include "engine/op/word_list.hpp"

namespace rankscope {

constexpr auto time_class_names =
    word_list("compute", "recompute", "tensor", "pipeline", "data", "zero", "optimizer", "bubble", "other");
static_assert(time_class_names.size() == time_class_count);
std::string_view name_of(TimeClass time) { return word_at(time_class_names, time); }

}  // namespace rankscope
