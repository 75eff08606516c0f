// How commands print a result.
#pragma once
#include <iostream>
#include <nlohmann/json.hpp>

namespace rankscope {

/// On standard output, as its one JSON value or as text: by its own to_json or to_text.
template <class Result>
void print(const Result& result, bool json) {
  if (json)
    std::cout << to_json(result).dump(2) << "\n";
  else
    std::cout << to_text(result);
}

}  // namespace rankscope
