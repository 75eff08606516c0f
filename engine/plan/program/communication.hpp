// The meaning of the buffers of a communication op, and a check that all members of a group agree on it.
//
// An op has up to two operands, each of one or several buffers of one element type that are adjacent in the arena
// in the order of their uses (place_buffers arranges gradients so; other operands are one buffer). The input is first.
// Meaning of an operand's uses: r, only read; w, only written; a, both, so that its old content is lost unless said
// otherwise. `whole` is n equal parts in member order, n being the members of the op's group: a tensor that n does not
// divide is padded by a buffer of its own. A rooted collective names its root, a world rank, in Op::root.
//
//   kind             uses                            content afterwards
//   send             data r
//   receive          data w
//   broadcast        root: data r; others: data w    the root's data
//   reduce           data a                          root: the sum; others: unspecified
//   all_reduce       data a                          the sum
//   scatter          root: whole r, part w           the root's whole, part by part
//                    others: part w
//   gather           root: part r, whole w           all members' parts
//                    others: part r
//   all_gather       part r, whole w                 all members' parts
//   reduce_scatter   whole a, part w                 part: this member's part of the sum; whole: unspecified
//   all_to_all       sent r, received w              received: part i is what member i sent as its part for this one
//
// Four of them can also be done in place, where this member's part is at its place in the whole:
//
//   scatter          root: whole a                   unchanged (the root's part is where it belongs)
//   gather           root: whole a                   all members' parts
//   all_gather       whole a                         all members' parts
//   reduce_scatter   whole a                         this member's part: its part of the sum; the rest: unspecified
//
// Uses are exact, since add_edges orders ops of other lanes by them. All members' ops have the same id, group, root,
// element type and size of the whole.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/plan/program/program.hpp"

namespace rankscope {

/// The uses of each operand: the same ones twice when the op works in place, none if there is no such operand.
struct CommOperands {
  std::span<const BufferUse> input, output;
  bool in_place() const { return !input.empty() && input.data() == output.data(); }
};
CommOperands operands_of(const Op& op);

/// S, the bytes in the formulas of engine/plan/collective: the message, the tensor, or the whole of n parts.
std::int64_t whole_bytes(const RankProgram& program, const Op& op, int members);
/// The contribution of one rank: its part for a gather or all_gather, else the whole.
std::int64_t contribution_bytes(const RankProgram& program, const Op& op, int members);
/// The element type of the data.
DType type_of(const RankProgram& program, const Op& op);

/// The error if the operands of a communication op break the rules above, in one line with rank and op; nullopt if they
/// are valid. Buffers need not have their places yet.
std::optional<std::string> find_misuse(const RankProgram& program, const Op& op, const RankGrid& grid);
/// The same for all communication ops of all ranks, whose ends and members must agree as well. An op without a
/// counterpart is reported by the dry run.
std::optional<std::string> find_misuse(const std::vector<RankProgram>& programs, const RankGrid& grid);

}  // namespace rankscope
