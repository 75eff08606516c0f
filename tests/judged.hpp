// What a test could not judge where it ran. A test program that has passed but has left something unjudged ends with
// the status that CTest reports as skipped, never as passed.
#pragma once
#include <string>

namespace rankscope::test {

inline constexpr int skipped_status = 77;

/// Prints the reason. Any thread.
void not_judged(const std::string& what_and_why);
/// Runs the program's tests with Catch's arguments. The exit status: 0, 1, or skipped_status.
int run_all(int argc, char** argv);

}  // namespace rankscope::test
