// The number of threads for tests of kernels.
#pragma once

namespace rankscope::kernels::test {

// GCC's OpenMP is not built for the thread sanitizer, which reports its barriers as races. With one thread the kernels
// do not use OpenMP; ranks are ordinary threads and are tested with the sanitizer.
#if defined(__SANITIZE_THREAD__)
inline constexpr int most_threads = 1;
#else
inline constexpr int most_threads = 2;
#endif

}  // namespace rankscope::kernels::test
