// Where tests find the checkout that they are from, and the programs of their build.
#pragma once
#include <string>

namespace rankscope::test {

/// The root folder of the checkout.
std::string source_folder();
/// The path of a program that was built with this one: program("rankscope-engine").
std::string program(const std::string& name);

}  // namespace rankscope::test
