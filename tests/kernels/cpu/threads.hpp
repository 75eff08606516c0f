// How many threads a kernel is tested with.
#pragma once

namespace rankscope::kernels::test {

// GCC's OpenMP is not built for the thread sanitizer, which sees races where its barriers are. With one thread the
// kernels do not enter OpenMP; ranks are ordinary threads and are tested under the sanitizer.
#if defined(__SANITIZE_THREAD__)
inline constexpr int most_threads = 1;
#else
inline constexpr int most_threads = 2;
#endif

}  // namespace rankscope::kernels::test
