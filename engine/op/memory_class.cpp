#include "engine/op/memory_class.hpp"

#include "engine/op/word_list.hpp"

namespace rankscope {

constexpr auto memory_class_names = word_list("parameters", "gradients", "optimizer", "activations", "buffers", "host",
                                              "workspace", "context", "unclassified");
static_assert(memory_class_names.size() == memory_class_count);
std::string_view name_of(MemoryClass memory) { return word_at(memory_class_names, memory); }

}  // namespace rankscope
