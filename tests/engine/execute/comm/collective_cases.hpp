// Checks that every communicator must pass, run by one rank of any world: the same code under loopback and mpirun.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/execute/comm/communicator.hpp"

namespace rankscope::test {

/// Runs all eight collectives over `group` (each member calls this) with `elements` elements or, where there are parts,
/// about as many, of this type. Returns what came out wrong on this rank, empty when nothing did.
std::vector<std::string> wrong_collectives(Communicator& group, DType type, std::int64_t elements);

/// Sends tensors around the group, both ways at once in two threads of each member. Returns what came out wrong.
std::vector<std::string> wrong_messages(Communicator& group, std::int64_t elements);

/// Both in all of these groups at once, a thread for each of this rank's, so many rounds of collectives. Returns what
/// came out wrong.
std::vector<std::string> wrong_at_once(std::span<const std::unique_ptr<Communicator>> groups, int rounds);

/// The others send to rank 0 in a known order, the last rank first, each once the one before was received; rank 0
/// receives whoever came first of those it asks for. Returns what came out wrong. Three ranks or more.
std::vector<std::string> wrong_arrivals(World& world);

/// Checks that sums of arbitrary numbers are the same bits on every member, and that the reduce-scatter's part is the
/// all-reduce's chunk, bit for bit, where that is promised. Returns what came out wrong.
std::vector<std::string> wrong_bits(Communicator& group, World& world, DType type, bool parts_equal_chunks);

/// Checks that a ring all-reduce puts 2(n-1)·S bytes on the wire over the group. `world` is the group's. Returns what
/// came out wrong.
std::vector<std::string> wrong_ring_bytes(World& world, std::int64_t elements);

}  // namespace rankscope::test
