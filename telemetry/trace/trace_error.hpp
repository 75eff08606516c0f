// Thrown if a trace cannot be written or read.
#pragma once
#include <stdexcept>

namespace rankscope {

/// what() is one line that begins with the file's name.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace rankscope
