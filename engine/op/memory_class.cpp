#include "engine/op/memory_class.hpp"

namespace rankscope {

std::string_view name_of(MemoryClass memory) {
  switch (memory) {
    case MemoryClass::parameters: return "parameters";
    case MemoryClass::gradients: return "gradients";
    case MemoryClass::optimizer: return "optimizer";
    case MemoryClass::activations: return "activations";
    case MemoryClass::buffers: return "buffers";
    case MemoryClass::host: return "host";
    case MemoryClass::workspace: return "workspace";
    case MemoryClass::context: return "context";
  }
  return "?";
}

}  // namespace rankscope
