// How commands print a result.
#pragma once
#include <iostream>
#include <nlohmann/json.hpp>

namespace rankscope {

/// One JSON value on standard output. Bytes that are not UTF-8, such as those of a path, are replaced.
template <class Json>
void print_json(const Json& json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

/// On standard output, as its one JSON value or as text: by its own to_json or to_text.
template <class Result>
void print(const Result& result, bool json) {
  if (json)
    print_json(to_json(result));
  else
    std::cout << to_text(result);
}

}  // namespace rankscope
