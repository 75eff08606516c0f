// Checks that a test could not make on this machine. If a test program passes but has not judged something, it ends
// with the status that CTest reports as skipped, never as passed.
#pragma once
#include <string>

namespace rankscope::test {

inline constexpr int skipped_status = 77;

/// Prints the reason. Can be called on any thread.
void not_judged(const std::string& what_and_why);
/// Runs the program's tests with Catch's arguments. Returns the exit status: 0, 1, or skipped_status.
int run_all(int argc, char** argv);

}  // namespace rankscope::test
