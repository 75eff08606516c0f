#include "tests/places.hpp"

#include <filesystem>

namespace rankscope::test {

std::string source_folder() { return RANKSCOPE_SOURCE_DIR; }

std::string program(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace rankscope::test
