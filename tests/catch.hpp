// Catch2, version 2 (Debian 12) or 3 (Ubuntu 24.04), under one include.
#pragma once
#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
/// Matches a text with `part` in it.
inline auto ContainsText(const std::string& part) { return Catch::Matchers::ContainsSubstring(part); }
#else
#include <catch2/catch.hpp>
inline auto ContainsText(const std::string& part) { return Catch::Matchers::Contains(part); }
#endif
