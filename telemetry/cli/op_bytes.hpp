// The bytes that each op moves, from the programs in a recording.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "engine/op/op_id.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

class OpBytes {
 public:
  /// A rank whose program is missing or damaged has none.
  explicit OpBytes(const StoreView& run);
  /// The op's payload: the message, the tensor, or the whole of all parts. nullopt: it moves none, or is unknown.
  std::optional<std::int64_t> of(int rank, OpId op) const;

 private:
  std::map<int, std::unordered_map<OpId, std::int64_t>> of_rank_;
};

}  // namespace rankscope
