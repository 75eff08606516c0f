// Catch's implementation, and how its tests are run. Separate from main(), because some programs have their own.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <atomic>
#include <iostream>

#include "tests/judged.hpp"

namespace rankscope::test {
namespace {

std::atomic<int> unjudged{0};

}  // namespace

void not_judged(const std::string& what_and_why) {
  ++unjudged;
  std::cout << "not judged: " << what_and_why << std::endl;
}

int run_all(int argc, char** argv) {
  const int result = Catch::Session().run(argc, argv);
  if (result != 0) return 1;  // Catch returns the number of failures, which could be any number
  if (unjudged == 0) return 0;
  std::cout << "skipped: " << unjudged << " not judged (above), all others passed" << std::endl;
  return skipped_status;
}

}  // namespace rankscope::test
