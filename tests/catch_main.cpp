#include "tests/judged.hpp"

int main(int argc, char** argv) { return rankscope::test::run_all(argc, argv); }
