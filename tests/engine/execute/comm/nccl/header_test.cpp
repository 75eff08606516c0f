// Compares NCCL's interface, as declared in engine/execute/comm/nccl_library.hpp, with NCCL's own header and library.
#include <nccl.h>

#include <cstddef>
#include <type_traits>

#include "engine/execute/comm/nccl_library.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::comm;

static_assert(sizeof(NcclUniqueId) == sizeof(ncclUniqueId));
static_assert(offsetof(NcclConfig, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(NcclConfig, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(NcclConfig, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(NcclConfig, max_ctas) == offsetof(ncclConfig_t, maxCTAs));
static_assert(offsetof(NcclConfig, net_name) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(NcclConfig, split_share) == offsetof(ncclConfig_t, splitShare));
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
static_assert(offsetof(NcclConfig, traffic_class) == offsetof(ncclConfig_t, trafficClass));
static_assert(offsetof(NcclConfig, comm_name) == offsetof(ncclConfig_t, commName));
#else
static_assert(offsetof(NcclConfig, traffic_class) <= sizeof(ncclConfig_t));
#endif
static_assert(static_cast<int>(NcclResult::remote_error) == ncclRemoteError);
static_assert(static_cast<int>(NcclResult::in_progress) == ncclInProgress);
static_assert(nccl_sum == ncclSum);

TEST_CASE("element types have NCCL's numbers") {
  CHECK(nccl_type_of(DType::f64) == ncclFloat64);
  CHECK(nccl_type_of(DType::f32) == ncclFloat32);
  CHECK(nccl_type_of(DType::bf16) == ncclBfloat16);
  CHECK(nccl_type_of(DType::f16) == ncclFloat16);
  CHECK(nccl_type_of(DType::i32) == ncclInt32);
  CHECK(nccl_type_of(DType::u8) == ncclUint8);
}

TEST_CASE("a configuration made here is what NCCL's own initialiser begins with") {
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  const NcclConfig mine(NCCL_VERSION_CODE), older(21800);
  CHECK(mine.magic == theirs.magic);
  CHECK(mine.version <= theirs.version);
  CHECK(mine.size <= sizeof theirs);
  CHECK(older.size == offsetof(NcclConfig, traffic_class));
  CHECK(older.version == 21800);
  CHECK(mine.cga_cluster_size == theirs.cgaClusterSize);
  CHECK(mine.min_ctas == theirs.minCTAs);
  CHECK(mine.split_share == theirs.splitShare);
  CHECK(mine.traffic_class == NCCL_CONFIG_UNDEF_INT);
}

TEST_CASE("the library found by the build has all functions, and reports its version") {
  const auto nccl = open_nccl("");
  CHECK(nccl->version >= 21800);
}
