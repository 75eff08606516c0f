// The names of a stored run's ops and lanes: those of an imported run are in its facts.
#pragma once
#include <string>
#include <vector>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// An op's token, such as "B:c2:m3"; of an imported run its own name, such as "aten::addmm".
std::string name_of_op(const StoreView& run, int rank, OpId op);
/// The same in shorter and shorter forms, without what a compiler adds: "void at::native::add<float>(int)",
/// "at::native::add", "add". One form for a token.
std::vector<std::string> forms_of_op(const StoreView& run, int rank, OpId op);
/// "compute"; of an imported run its own name, such as "stream 7".
std::string name_of_lane(const StoreView& run, int rank, Lane lane);

}  // namespace rankscope
