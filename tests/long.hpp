// `bash tests/run.sh --long`: more plans, sizes and repetitions of what every run of the tests has in a short form.
#pragma once
#include <cstdlib>

namespace rankscope::test {

inline bool is_long() { return std::getenv("RANKSCOPE_LONG_TESTS") != nullptr; }

}  // namespace rankscope::test
