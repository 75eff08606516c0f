// How commands print a result.
#pragma once
#include <iostream>
#include <nlohmann/json.hpp>

namespace rankscope {

/// On standard output, as its one JSON value or as text: to_json and to_text of its own.
template <class Result>
void print(const Result& result, bool json) {
  if (json)
    std::cout << to_json(result).dump(2) << "\n";
  else
    std::cout << to_text(result);
}

}  // namespace rankscope
