// The cases for all tests of collectives.
#pragma once

#include "engine/plan/collective/transfer.hpp"

namespace rankscope::test {

constexpr OpKind collectives[] = {OpKind::broadcast, OpKind::scatter,    OpKind::reduce,         OpKind::all_reduce,
                                  OpKind::gather,    OpKind::all_gather, OpKind::reduce_scatter, OpKind::all_to_all};
constexpr Algorithm algorithms[] = {Algorithm::ring, Algorithm::naive, Algorithm::tree, Algorithm::halving_doubling};

}  // namespace rankscope::test
