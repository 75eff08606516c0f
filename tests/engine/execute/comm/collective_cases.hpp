// Checks that every communicator must pass, run by one rank of any world: the same code under loopback and mpirun.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/execute/comm/communicator.hpp"

namespace rankscope::test {

/// Runs all eight collectives over `group` (each member calls this) with `elements` elements of this type, or about as
/// many if there are parts. Returns this rank's wrong results; empty if there are none.
std::vector<std::string> wrong_collectives(Communicator& group, DType type, std::int64_t elements);

/// Sends tensors around the group in both directions at once, in two threads of each member. Returns the wrong results.
std::vector<std::string> wrong_messages(Communicator& group, std::int64_t elements);

/// Both in all of these groups at once, with a thread for each group of this rank, for `rounds` rounds of collectives.
/// Returns the wrong results.
std::vector<std::string> wrong_at_once(std::span<const std::unique_ptr<Communicator>> groups, int rounds);

/// The others send to rank 0 in a known order, the last rank first, each after the previous message was received; rank
/// 0 receives from the first sender to arrive among those that it asks for. Needs three ranks. Returns the wrong
/// results.
std::vector<std::string> wrong_arrivals(World& world);

/// Checks that sums of arbitrary numbers have the same bits on every member, and that the reduce-scatter's part equals
/// the all-reduce's chunk bit for bit, if `parts_equal_chunks`. Returns the wrong results.
std::vector<std::string> wrong_bits(Communicator& group, World& world, DType type, bool parts_equal_chunks);

/// Checks that a ring all-reduce over all of `world` sends 2(n-1)·S bytes. Returns the wrong results.
std::vector<std::string> wrong_ring_bytes(World& world, std::int64_t elements);

}  // namespace rankscope::test
