// The used part of NCCL, loaded when a run needs it: a program built without NCCL can use it, and also runs without it.
// The C interface is NCCL's (nccl.h), declared here; a test compares the two if that header exists. Only for the nccl
// files of this folder.
#pragma once
#include <climits>
#include <cstddef>
#include <memory>
#include <string>

#include "kernels/tensor/type.hpp"

namespace rankscope::comm {

enum class NcclResult : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};

struct NcclUniqueId {
  char bytes[128];
};

/// The first part of ncclConfig_t, as in 2.27: later versions get its size from `size` and `version`.
struct NcclConfig {
  static constexpr int least_version = 21800, named_version = 22700;
  /// For a library of that version: fields added after 2.18 are hidden from older ones.
  explicit NcclConfig(int library_version);
  std::size_t size;
  unsigned magic = 0xcafebeef;
  unsigned version;
  int blocking = 0;  ///< calls return at once, and are polled for their result
  int cga_cluster_size = undefined, min_ctas = undefined, max_ctas = undefined;
  const char* net_name = nullptr;
  int split_share = undefined;
  int traffic_class = undefined;  ///< since 2.27, also those after it
  const char* comm_name = nullptr;
  static constexpr int undefined = INT_MIN;
};

inline NcclConfig::NcclConfig(int library_version)
    : size(library_version < named_version ? offsetof(NcclConfig, traffic_class) : sizeof(NcclConfig)),
      version(library_version < named_version ? least_version : named_version) {}

using NcclComm = struct NcclCommOpaque*;
using NcclStream = void*;  ///< cudaStream_t

inline constexpr int nccl_sum = 0;
int nccl_type_of(DType type);

struct NcclLibrary {
  std::string path;
  int version = 0;  ///< 22809 is 2.28.9

  NcclResult (*get_version)(int*);
  NcclResult (*get_unique_id)(NcclUniqueId*);
  NcclResult (*init_rank)(NcclComm*, int ranks, NcclUniqueId, int rank, NcclConfig*);
  NcclResult (*finalize)(NcclComm);
  NcclResult (*destroy)(NcclComm);
  NcclResult (*abort)(NcclComm);
  NcclResult (*async_error)(NcclComm, NcclResult*);
  const char* (*error_string)(NcclResult);
  const char* (*last_error)(NcclComm);
  NcclResult (*broadcast)(const void*, void*, std::size_t, int type, int root, NcclComm, NcclStream);
  NcclResult (*reduce)(const void*, void*, std::size_t, int type, int op, int root, NcclComm, NcclStream);
  NcclResult (*all_reduce)(const void*, void*, std::size_t, int type, int op, NcclComm, NcclStream);
  NcclResult (*all_gather)(const void*, void*, std::size_t each, int type, NcclComm, NcclStream);
  NcclResult (*reduce_scatter)(const void*, void*, std::size_t each, int type, int op, NcclComm, NcclStream);
  NcclResult (*send)(const void*, std::size_t, int type, int peer, NcclComm, NcclStream);
  NcclResult (*receive)(void*, std::size_t, int type, int peer, NcclComm, NcclStream);
  NcclResult (*group_start)();
  NcclResult (*group_end)();
};

/// Empty: libnccl.so.2 as found by the system, or where it was found while configuring. Throws CommError in one line:
/// the library does not exist, lacks a function, or is older than 2.18.
std::shared_ptr<const NcclLibrary> open_nccl(const std::string& path);

}  // namespace rankscope::comm
