#include "engine/execute/comm/nccl_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

#include "engine/execute/comm/communicator.hpp"

namespace rankscope::comm {

namespace {

#ifdef RANKSCOPE_NCCL_LIBRARY
constexpr const char* found_while_configuring = RANKSCOPE_NCCL_LIBRARY;
#else
constexpr const char* found_while_configuring = "";
#endif

struct Opened {
  void* library = nullptr;
  std::string path;
};

// Never closed: NCCL's own threads may outlive the last communicator.
Opened open_first(const std::string& asked) {
  std::string why;
  const std::vector<std::string> places =
      asked.empty() ? std::vector<std::string>{"libnccl.so.2", found_while_configuring} : std::vector{asked};
  for (const std::string& place : places) {
    if (place.empty()) continue;
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return {library, place};
    const char* text = dlerror();
    if (why.empty()) why = text != nullptr ? text : place;
  }
  throw CommError("the communicator 'nccl' needs NCCL, which was not found (" + why + "); use 'loopback' or 'mpi'");
}

template <class Function>
void find(Function*& function, void* library, const char* name, const std::string& path) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr)
    throw CommError("the communicator 'nccl' needs " + std::string(name) + ", which " + path + " has not");
}

}  // namespace

int nccl_type_of(DType type) {
  switch (type) {
    case DType::u8: return 1;
    case DType::i32: return 2;
    case DType::f16: return 6;
    case DType::f32: return 7;
    case DType::f64: return 8;
    case DType::bf16: return 9;
  }
  return -1;
}

std::shared_ptr<const NcclLibrary> open_nccl(const std::string& asked) {
  const auto [library, path] = open_first(asked);
  auto nccl = std::make_shared<NcclLibrary>();
  nccl->path = path;
  const auto get = [&nccl, from = library, &where = nccl->path](auto& function, const char* name) {
    find(function, from, name, where);
  };
  get(nccl->get_version, "ncclGetVersion");
  get(nccl->get_unique_id, "ncclGetUniqueId");
  get(nccl->init_rank, "ncclCommInitRankConfig");
  get(nccl->finalize, "ncclCommFinalize");
  get(nccl->destroy, "ncclCommDestroy");
  get(nccl->abort, "ncclCommAbort");
  get(nccl->async_error, "ncclCommGetAsyncError");
  get(nccl->error_string, "ncclGetErrorString");
  get(nccl->last_error, "ncclGetLastError");
  get(nccl->broadcast, "ncclBroadcast");
  get(nccl->reduce, "ncclReduce");
  get(nccl->all_reduce, "ncclAllReduce");
  get(nccl->all_gather, "ncclAllGather");
  get(nccl->reduce_scatter, "ncclReduceScatter");
  get(nccl->send, "ncclSend");
  get(nccl->receive, "ncclRecv");
  get(nccl->group_start, "ncclGroupStart");
  get(nccl->group_end, "ncclGroupEnd");
  if (const NcclResult result = nccl->get_version(&nccl->version); result != NcclResult::success)
    throw CommError("NCCL does not report its version: " + std::string(nccl->error_string(result)));
  if (nccl->version < NcclConfig::least_version)
    throw CommError(fmt::format("the communicator 'nccl' needs NCCL 2.18 or later; {} is version {}.{}", nccl->path,
                                nccl->version / 10000, nccl->version / 100 % 100));
  return nccl;
}

}  // namespace rankscope::comm
