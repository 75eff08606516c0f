// An out-of-memory error: how much memory, and for what.
#pragma once
#include <cstdint>
#include <new>
#include <string>

namespace rankscope {

/// what() is one line.
class OutOfMemory : public std::bad_alloc {
 public:
  OutOfMemory(std::int64_t bytes, const std::string& what)
      : text_(what + " needs " + std::to_string((bytes + (1 << 20) - 1) >> 20) +
              " MiB, which this process cannot get") {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace rankscope
