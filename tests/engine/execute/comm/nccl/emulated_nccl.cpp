// NCCL's C interface on the host, for tests of what calls it: the ranks of a communicator are threads of this process
// or processes of this host, and memory is the host's. As under NCCL calls only enqueue, in the order of a stream, and
// what does not come is waited for until it is aborted. Without a stream a call is in progress until it is done.
//
// Stricter than NCCL: what breaks its rules (calls on an aborted communicator, from two threads at once, before the one
// before is done; members that call different things; bytes, peers or roots that do not fit; a communicator destroyed
// with work under way) is noted, for the test to find, where NCCL would hang or corrupt memory.
#include "tests/engine/execute/comm/nccl/emulated.hpp"

#include <cstring>
#include <map>
#include <mutex>

#include "tests/engine/execute/comm/nccl/emulated_communicator.hpp"
#include "tests/engine/execute/comm/nccl/emulated_state.hpp"

using namespace emulated_nccl;
using rankscope::comm::NcclConfig;
using rankscope::comm::NcclUniqueId;

namespace {

constexpr int emulated_version = 22809;

struct Members {
  std::mutex mutex;
  std::map<Communicator*, std::unique_ptr<Communicator>> live;
  std::vector<std::unique_ptr<Communicator>> buried;  ///< streams may still hold what was enqueued
};
Members& members() {
  static Members* const all = new Members;  // outlives the program's statics, as streams do
  return *all;
}

/// One call on a communicator: null when it is none, or not to be called now.
class Call {
 public:
  Call(void* handle, const char* name) {
    auto* communicator = static_cast<Communicator*>(handle);
    {
      const std::lock_guard lock(members().mutex);
      if (!members().live.contains(communicator)) communicator = nullptr;
    }
    if (communicator == nullptr) {
      note(std::string(name) + " on a communicator that is gone");
      return;
    }
    if (communicator->inside++ != 0) note(std::string(name) + " while another thread calls on the same communicator");
    communicator_ = communicator;
  }
  ~Call() {
    if (communicator_ != nullptr) --communicator_->inside;
  }
  Communicator* operator->() const { return communicator_; }
  Communicator* get() const { return communicator_; }
  explicit operator bool() const { return communicator_ != nullptr; }

 private:
  Communicator* communicator_ = nullptr;
};

bool may_enqueue(Communicator& c, const char* name) {
  if (c.finalised) return note(std::string(name) + " on a finalised communicator"), false;
  if (c.state() == NcclResult::in_progress)
    return note(std::string(name) + " before the call before it is done"), false;
  return true;
}

struct Group {
  int depth = 0;
  void* stream = nullptr;
  std::map<Communicator*, std::vector<Post>> posts;
};
thread_local Group group;

NcclResult close_group() {
  NcclResult result = NcclResult::success;
  for (auto& [communicator, posts] : group.posts) {
    const NcclResult of_one = communicator->enqueue(posts, group.stream);
    if (of_one != NcclResult::success) result = of_one;
  }
  group.posts.clear();
  return result;
}

NcclResult post(void* handle, Post message, void* stream, const char* name) {
  const Call c(handle, name);
  if (!c || !may_enqueue(*c.get(), name)) return NcclResult::invalid_argument;
  if (message.peer < 0 || message.peer >= c->ranks())
    return note(std::string(name) + " with a peer that is none"), NcclResult::invalid_argument;
  if (!group.posts.empty() && group.stream != stream) note("a group on two streams");
  group.stream = stream;
  group.posts[c.get()].push_back(message);
  return group.depth > 0 ? NcclResult::success : close_group();
}

NcclResult collective(void* handle, Collective call, void* stream) {
  const Call c(handle, call.name);
  if (!c || !may_enqueue(*c.get(), call.name)) return NcclResult::invalid_argument;
  if (call.root >= c->ranks())
    return note(std::string(call.name) + " with a root that is none"), NcclResult::invalid_argument;
  if (group.depth > 0) note(std::string(call.name) + " inside a group");
  return c->enqueue(call, stream);
}

NcclResult bury(void* handle, bool after_abort) {
  std::unique_ptr<Communicator> gone;
  const std::lock_guard lock(members().mutex);
  const auto found = members().live.find(static_cast<Communicator*>(handle));
  if (found == members().live.end()) {
    note("a communicator is given up twice");
    return NcclResult::invalid_argument;
  }
  gone = std::move(found->second);
  members().live.erase(found);
  if (!after_abort && (!gone->finalised || gone->has_work_on_streams()))
    note("a communicator is destroyed without being finalised, or with work under way");
  if (after_abort) gone->abort();
  members().buried.push_back(std::move(gone));
  return NcclResult::success;
}

}  // namespace

extern "C" {

NcclResult ncclGetVersion(int* version) {
  *version = emulated_version;
  return NcclResult::success;
}

NcclResult ncclGetUniqueId(NcclUniqueId* id) {
  std::memset(id->bytes, 0, sizeof id->bytes);
  const std::string name = Rendezvous::make();
  std::memcpy(id->bytes, name.data(), name.size());
  return NcclResult::success;
}

NcclResult ncclCommInitRankConfig(void** handle, int ranks, NcclUniqueId id, int rank, NcclConfig* config) {
  const NcclConfig expected(emulated_version);
  if (config == nullptr || config->magic != expected.magic || config->size != expected.size ||
      config->version != expected.version || config->blocking != 0 || config->max_ctas < 1)
    note("a configuration that is none, or that blocks");
  if (!state().loads_code_ahead)
    note("a communicator whose kernels would wait on the device while the code of others is loaded");
  auto communicator = std::make_unique<Communicator>(id.bytes, ranks, rank, config->comm_name);
  *handle = communicator.get();
  const std::lock_guard lock(members().mutex);
  members().live[communicator.get()] = std::move(communicator);
  return NcclResult::in_progress;
}

NcclResult ncclCommFinalize(void* handle) {
  const Call c(handle, "ncclCommFinalize");
  if (!c || !may_enqueue(*c.get(), "ncclCommFinalize")) return NcclResult::invalid_argument;
  c->finalised = true;
  return c->has_work_on_streams() ? NcclResult::in_progress : NcclResult::success;
}

NcclResult ncclCommDestroy(void* handle) { return bury(handle, false); }
NcclResult ncclCommAbort(void* handle) { return bury(handle, true); }

NcclResult ncclCommGetAsyncError(void* handle, NcclResult* result) {
  const Call c(handle, "ncclCommGetAsyncError");
  if (!c) return NcclResult::invalid_argument;
  *result = c->state();
  return NcclResult::success;
}

const char* ncclGetErrorString(NcclResult result) {
  switch (result) {
    case NcclResult::success: return "no error";
    case NcclResult::invalid_argument: return "invalid argument";
    case NcclResult::invalid_usage: return "invalid usage";
    case NcclResult::remote_error: return "remote process exited or there was a network error";
    default: return "error";
  }
}
const char* ncclGetLastError(void*) { return ""; }

NcclResult ncclBroadcast(const void* from, void* to, std::size_t n, int type, int root, void* c, void* stream) {
  return collective(c, {"broadcast", n, type, -1, root, from, to}, stream);
}
NcclResult ncclReduce(const void* from, void* to, std::size_t n, int type, int op, int root, void* c, void* stream) {
  return collective(c, {"reduce", n, type, op, root, from, to}, stream);
}
NcclResult ncclAllReduce(const void* from, void* to, std::size_t n, int type, int op, void* c, void* stream) {
  return collective(c, {"all_reduce", n, type, op, -1, from, to}, stream);
}
NcclResult ncclAllGather(const void* from, void* to, std::size_t n, int type, void* c, void* stream) {
  return collective(c, {"all_gather", n, type, -1, -1, from, to}, stream);
}
NcclResult ncclReduceScatter(const void* from, void* to, std::size_t n, int type, int op, void* c, void* stream) {
  return collective(c, {"reduce_scatter", n, type, op, -1, from, to}, stream);
}
NcclResult ncclSend(const void* data, std::size_t n, int type, int peer, void* c, void* stream) {
  return post(c, {true, peer, type, n, const_cast<void*>(data)}, stream, "ncclSend");
}
NcclResult ncclRecv(void* data, std::size_t n, int type, int peer, void* c, void* stream) {
  return post(c, {false, peer, type, n, data}, stream, "ncclRecv");
}
NcclResult ncclGroupStart() {
  ++group.depth;
  return NcclResult::success;
}
NcclResult ncclGroupEnd() {
  if (group.depth == 0) return note("a group is ended that was not begun"), NcclResult::invalid_usage;
  return --group.depth > 0 ? NcclResult::success : close_group();
}

void emulated_nccl_lose(int rank) { state().lost_rank = rank; }
}
