// Signatures: ops with equal work have equal cost.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/plan/program/program.hpp"

namespace rankscope {

/// A hash of kind, segment, and of every operand's access, element type, shape and memory (the device's or
/// the host's), in operand order. It contains no rank, chunk, micro-batch or address, and is the same in every build.
struct OpSignature {
  std::uint64_t value = 0;
  auto operator<=>(const OpSignature&) const = default;
};

OpSignature signature_of(const RankProgram& program, const Op& op);
/// The signature's content, for readers: "backward qkv: read fp32 512x128, …".
std::string describe_signature(const RankProgram& program, const Op& op);

/// The median (the lower of two); 0 if empty.
std::int64_t median(std::vector<std::int64_t> values);

}  // namespace rankscope

template <>
struct std::hash<rankscope::OpSignature> {
  std::size_t operator()(rankscope::OpSignature s) const noexcept { return static_cast<std::size_t>(s.value); }
};
