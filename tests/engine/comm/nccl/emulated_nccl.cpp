// NCCL's C interface on the host, for tests of what calls it: the ranks of a communicator are threads of this process,
// and memory is the host's. As under NCCL calls only enqueue, in the order of a stream, and what does not come is
// waited for until it is aborted. Without a stream a call is in progress until it is done.
//
// Stricter than NCCL: what breaks its rules (calls on an aborted communicator, from two threads at once, before the one
// before is done; members that call different things; bytes, peers or roots that do not fit; a communicator destroyed
// with work under way) is noted, for the test to find, where NCCL would hang or corrupt memory.
#include "tests/engine/comm/nccl/emulated.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/comm/nccl_library.hpp"
#include "kernels/tensor/element.hpp"

using rankscope::DType;
using rankscope::View;
using rankscope::comm::NcclConfig;
using rankscope::comm::NcclResult;
using rankscope::comm::NcclUniqueId;

namespace {

std::mutex global;  // guards what follows
std::string misuse_text, misuse_told;
std::atomic<int> lost_rank{-1};
void (*enqueue_on)(void* stream, std::function<void()> work) = [](void* stream, std::function<void()> work) {
  static_cast<emulated_nccl::Stream*>(stream)->enqueue(std::move(work));
};
void (*transfer)(const std::vector<const void*>& touched, const std::function<void()>& work) =
    [](const std::vector<const void*>&, const std::function<void()>& work) { work(); };
int ids = 0;

void note(const std::string& what) {
  const std::lock_guard lock(global);
  misuse_text += what + "\n";
}

DType type_of(int type) {
  switch (type) {
    case 1: return DType::u8;
    case 2: return DType::i32;
    case 6: return DType::f16;
    case 7: return DType::f32;
    case 8: return DType::f64;
    case 9: return DType::bf16;
    default: note("an element type that is none: " + std::to_string(type)); return DType::u8;
  }
}

struct Collective {
  const char* name = "";
  std::size_t count = 0;
  int type = 0, root = -1;
  const void* from = nullptr;
  void* to = nullptr;
  std::string signature() const {
    return std::string(name) + " of " + std::to_string(count) + " of type " + std::to_string(type) + " root " +
           std::to_string(root);
  }
};

struct Communicator;

/// What one call still waits for.
struct Flight {
  std::atomic<int> left{1};
};

struct Post {
  bool is_send = false;
  int peer = 0, type = 0;
  std::size_t count = 0;
  void* data = nullptr;
  const Communicator* owner = nullptr;
  std::shared_ptr<Flight> flight;
};

/// What the members of one communicator meet in.
struct Clique {
  explicit Clique(int n) : ranks(n), posts(static_cast<std::size_t>(n) * n * 2) {}
  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int> joined;
  struct Slot {
    std::vector<Collective> calls;
    std::vector<std::shared_ptr<Flight>> flights;  ///< of the members that have come
    std::vector<Communicator*> owners;
  };
  std::map<std::uint64_t, Slot> slots;
  std::vector<std::deque<Post>> posts;  ///< by from, to, and which of the two waits
  std::deque<Post>& waiting(int from, int to, bool sender) {
    return posts[(static_cast<std::size_t>(from) * ranks + to) * 2 + (sender ? 1 : 0)];
  }
};
std::map<std::string, std::shared_ptr<Clique>> cliques;

View view(const void* data, int type, std::size_t count) {
  return {const_cast<void*>(data), type_of(type), {static_cast<std::int64_t>(count)}};
}
std::size_t bytes(int type, std::size_t count) {
  return count * static_cast<std::size_t>(rankscope::bytes_of(type_of(type)));
}
const std::byte* at(const void* data, int type, std::size_t element) {
  return static_cast<const std::byte*>(data) + bytes(type, element);
}

template <class Integer>
void sum_integers(const std::vector<Collective>& calls, const std::vector<void*>& to, std::size_t first,
                  std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t total = 0;
    for (const Collective& call : calls) total += static_cast<const Integer*>(call.from)[first + i];
    for (void* one : to) static_cast<Integer*>(one)[i] = static_cast<Integer>(total);
  }
}

/// to[i] = sum over the calls of from[first + i], in member order.
void sum(const std::vector<Collective>& calls, const std::vector<void*>& to, std::size_t first, std::size_t count) {
  const int type = calls[0].type;
  if (type_of(type) == DType::i32) return sum_integers<std::int32_t>(calls, to, first, count);
  if (type_of(type) == DType::u8) return sum_integers<std::uint8_t>(calls, to, first, count);
  for (std::size_t i = 0; i < count; ++i) {
    double total = 0;
    for (const Collective& call : calls)
      total += rankscope::element(view(call.from, type, first + count), static_cast<std::int64_t>(first + i));
    for (void* one : to) rankscope::set_element(view(one, type, count), static_cast<std::int64_t>(i), total);
  }
}

/// What all members have come for. Inputs are read before outputs that may lie on them are written.
void perform(std::vector<Collective>& calls) {
  const std::string name = calls[0].name;
  const std::size_t n = calls.size(), count = calls[0].count;
  const int type = calls[0].type;
  const auto root = static_cast<std::size_t>(std::max(calls[0].root, 0));
  if (name == "broadcast") {
    for (Collective& call : calls) std::memmove(call.to, calls[root].from, bytes(type, count));
  } else if (name == "reduce") {
    sum(calls, {calls[root].to}, 0, count);
  } else if (name == "all_reduce") {
    std::vector<void*> all;
    for (Collective& call : calls) all.push_back(call.to);
    sum(calls, all, 0, count);
  } else if (name == "reduce_scatter") {
    std::vector<std::vector<std::byte>> parts(n, std::vector<std::byte>(bytes(type, count)));
    for (std::size_t m = 0; m < n; ++m) sum(calls, {parts[m].data()}, m * count, count);
    for (std::size_t m = 0; m < n; ++m) std::memcpy(calls[m].to, parts[m].data(), parts[m].size());
  } else if (name == "all_gather") {
    std::vector<std::byte> whole;
    for (const Collective& call : calls) whole.insert(whole.end(), at(call.from, type, 0), at(call.from, type, count));
    for (Collective& call : calls) std::memcpy(call.to, whole.data(), whole.size());
  }
}

struct Communicator {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  std::uint64_t next = 0;
  std::atomic<NcclResult> error{NcclResult::success};
  std::atomic<bool> aborted{false}, finalised{false};
  std::atomic<int> inside{0}, on_streams{0};
  std::shared_ptr<Flight> flight;  ///< of the call that is not on a stream

  bool is_cut_off() const {
    const int lost = lost_rank;
    return aborted || (lost >= 0 && lost != rank && lost < clique->ranks);
  }

  // These three under the clique's lock.
  void begin(const Collective& call, std::uint64_t number, const std::shared_ptr<Flight>& its_flight) {
    Clique::Slot& slot = clique->slots[number];
    slot.calls.resize(static_cast<std::size_t>(clique->ranks));
    slot.calls[static_cast<std::size_t>(rank)] = call;
    slot.flights.push_back(its_flight);
    slot.owners.push_back(this);
    if (static_cast<int>(slot.flights.size()) < clique->ranks) return;
    bool agree = true;
    for (const Collective& other : slot.calls)
      if (agree && other.signature() != call.signature()) {
        agree = false;
        note("members of a communicator call " + other.signature() + " and " + call.signature());
      }
    if (agree) {
      std::vector<const void*> touched;
      for (const Collective& one : slot.calls) touched.insert(touched.end(), {one.from, one.to});
      transfer(touched, [&slot] { perform(slot.calls); });
    }
    for (Communicator* owner : slot.owners)
      if (!agree) owner->error = NcclResult::invalid_usage;
    for (const auto& one : slot.flights) one->left = 0;
    clique->slots.erase(number);
    clique->changed.notify_all();
  }

  void begin(const std::vector<Post>& posts, const std::shared_ptr<Flight>& its_flight) {
    for (Post post : posts) {
      post.owner = this;
      post.flight = its_flight;
      const int from = post.is_send ? rank : post.peer, to = post.is_send ? post.peer : rank;
      auto& others = clique->waiting(from, to, !post.is_send);
      if (others.empty()) {
        clique->waiting(from, to, post.is_send).push_back(post);
        continue;
      }
      const Post other = others.front();
      others.pop_front();
      if (bytes(post.type, post.count) != bytes(other.type, other.count)) {
        note("rank " + std::to_string(from) + " and rank " + std::to_string(to) + " mean different sizes of a message");
        error = NcclResult::invalid_usage;
      } else {
        void* const into = post.is_send ? other.data : post.data;
        const void* const sent = post.is_send ? post.data : other.data;
        transfer({into, sent}, [&] { std::memcpy(into, sent, bytes(post.type, post.count)); });
      }
      --post.flight->left;
      --other.flight->left;
      clique->changed.notify_all();
    }
  }

  /// Nobody may touch this member's memory any more.
  void withdraw() {
    for (auto& queue : clique->posts) std::erase_if(queue, [this](const Post& post) { return post.owner == this; });
    std::erase_if(clique->slots, [this](const auto& slot) {
      const auto& owners = slot.second.owners;
      return std::find(owners.begin(), owners.end(), this) != owners.end();
    });
  }

  /// On a stream the work waits there; else the caller asks whether it is done.
  template <class Work>
  NcclResult enqueue(void* stream, int parts, Work work) {
    auto its_flight = std::make_shared<Flight>();
    its_flight->left = parts;
    if (stream == nullptr) {
      const std::lock_guard lock(clique->mutex);
      work(its_flight);
      flight = its_flight;
      return its_flight->left > 0 ? NcclResult::in_progress : error.load();
    }
    ++on_streams;
    enqueue_on(stream, [this, its_flight, work] {
      std::unique_lock lock(clique->mutex);
      if (!aborted && error == NcclResult::success) {
        work(its_flight);
        clique->changed.wait(lock, [&] { return its_flight->left == 0 || is_cut_off(); });
        if (its_flight->left > 0) {
          withdraw();
          if (!aborted) error = NcclResult::remote_error;
        }
      }
      --on_streams;
    });
    return NcclResult::success;
  }
};

std::map<Communicator*, std::unique_ptr<Communicator>> live;
std::vector<std::unique_ptr<Communicator>> buried;  // streams may still hold what was enqueued

/// One call on a communicator: null when it is none, or not to be called now.
class Call {
 public:
  Call(void* handle, const char* name) {
    auto* communicator = static_cast<Communicator*>(handle);
    {
      const std::lock_guard lock(global);
      if (!live.contains(communicator)) communicator = nullptr;
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

NcclResult state_of(Communicator& c) {
  if (c.error != NcclResult::success) return c.error;
  const std::lock_guard lock(c.clique->mutex);
  if (static_cast<int>(c.clique->joined.size()) < c.clique->ranks) return NcclResult::in_progress;
  if (!c.flight || c.flight->left <= 0) return NcclResult::success;
  if (!c.is_cut_off()) return NcclResult::in_progress;
  c.withdraw();
  c.error = NcclResult::remote_error;
  return c.error;
}

bool may_enqueue(Communicator& c, const char* name) {
  if (c.finalised) return note(std::string(name) + " on a finalised communicator"), false;
  if (state_of(c) == NcclResult::in_progress)
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
    const NcclResult of_one =
        communicator->enqueue(group.stream, static_cast<int>(posts.size()),
                              [of = communicator, posts = posts](const auto& flight) { of->begin(posts, flight); });
    if (of_one != NcclResult::success) result = of_one;
  }
  group.posts.clear();
  return result;
}

NcclResult post(void* handle, Post message, void* stream, const char* name) {
  const Call c(handle, name);
  if (!c || !may_enqueue(*c.get(), name)) return NcclResult::invalid_argument;
  if (message.peer < 0 || message.peer >= c->clique->ranks)
    return note(std::string(name) + " with a peer that is none"), NcclResult::invalid_argument;
  if (!group.posts.empty() && group.stream != stream) note("a group on two streams");
  group.stream = stream;
  group.posts[c.get()].push_back(message);
  return group.depth > 0 ? NcclResult::success : close_group();
}

NcclResult collective(void* handle, Collective call, void* stream) {
  const Call c(handle, call.name);
  if (!c || !may_enqueue(*c.get(), call.name)) return NcclResult::invalid_argument;
  if (call.root >= c->clique->ranks)
    return note(std::string(call.name) + " with a root that is none"), NcclResult::invalid_argument;
  if (group.depth > 0) note(std::string(call.name) + " inside a group");
  return c->enqueue(stream, 1,
                    [of = c.get(), call, number = c->next++](const auto& flight) { of->begin(call, number, flight); });
}

NcclResult bury(void* handle, bool after_abort) {
  std::unique_ptr<Communicator> gone;
  {
    const std::lock_guard lock(global);
    const auto found = live.find(static_cast<Communicator*>(handle));
    if (found == live.end()) {
      misuse_text += "a communicator is given up twice\n";
      return NcclResult::invalid_argument;
    }
    gone = std::move(found->second);
    live.erase(found);
  }
  if (!after_abort && (!gone->finalised || gone->on_streams > 0))
    note("a communicator is destroyed without being finalised, or with work under way");
  if (after_abort) {
    gone->aborted = true;
    { const std::lock_guard lock(gone->clique->mutex); }
    gone->clique->changed.notify_all();
  }
  const std::lock_guard lock(global);
  buried.push_back(std::move(gone));
  return NcclResult::success;
}

}  // namespace

extern "C" {

NcclResult ncclGetVersion(int* version) {
  *version = 22809;
  return NcclResult::success;
}

NcclResult ncclGetUniqueId(NcclUniqueId* id) {
  const std::lock_guard lock(global);
  std::memset(id->bytes, 0, sizeof id->bytes);
  const std::string text = "emulated " + std::to_string(++ids);
  std::memcpy(id->bytes, text.data(), text.size());
  return NcclResult::success;
}

NcclResult ncclCommInitRankConfig(void** handle, int ranks, NcclUniqueId id, int rank, NcclConfig* config) {
  if (config == nullptr || config->magic != 0xcafebeef || config->size < sizeof(NcclConfig) || config->blocking != 0 ||
      config->max_ctas < 1)
    note("a configuration that is none, or that blocks");
  auto communicator = std::make_unique<Communicator>();
  std::shared_ptr<Clique> clique;
  {
    const std::lock_guard lock(global);
    auto& known = cliques[id.bytes];
    if (!known) known = std::make_shared<Clique>(ranks);
    clique = known;
  }
  {
    // Never under `global`: whoever holds a clique may note something.
    const std::lock_guard members(clique->mutex);
    if (clique->ranks != ranks || rank < 0 || rank >= ranks || !clique->joined.insert(rank).second)
      note("two members of a communicator with the same rank, or different ideas of how many there are");
  }
  const std::lock_guard lock(global);
  communicator->clique = clique;
  communicator->rank = rank;
  *handle = communicator.get();
  live[communicator.get()] = std::move(communicator);
  return NcclResult::in_progress;
}

NcclResult ncclCommFinalize(void* handle) {
  const Call c(handle, "ncclCommFinalize");
  if (!c || !may_enqueue(*c.get(), "ncclCommFinalize")) return NcclResult::invalid_argument;
  c->finalised = true;
  return c->on_streams > 0 ? NcclResult::in_progress : NcclResult::success;
}

NcclResult ncclCommDestroy(void* handle) { return bury(handle, false); }
NcclResult ncclCommAbort(void* handle) { return bury(handle, true); }

NcclResult ncclCommGetAsyncError(void* handle, NcclResult* result) {
  const Call c(handle, "ncclCommGetAsyncError");
  if (!c) return NcclResult::invalid_argument;
  *result = state_of(*c.get());
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
  return collective(c, {"broadcast", n, type, root, from, to}, stream);
}
NcclResult ncclReduce(const void* from, void* to, std::size_t n, int type, int, int root, void* c, void* stream) {
  return collective(c, {"reduce", n, type, root, from, to}, stream);
}
NcclResult ncclAllReduce(const void* from, void* to, std::size_t n, int type, int, void* c, void* stream) {
  return collective(c, {"all_reduce", n, type, -1, from, to}, stream);
}
NcclResult ncclAllGather(const void* from, void* to, std::size_t n, int type, void* c, void* stream) {
  return collective(c, {"all_gather", n, type, -1, from, to}, stream);
}
NcclResult ncclReduceScatter(const void* from, void* to, std::size_t n, int type, int, void* c, void* stream) {
  return collective(c, {"reduce_scatter", n, type, -1, from, to}, stream);
}
NcclResult ncclSend(const void* data, std::size_t n, int type, int peer, void* c, void* stream) {
  return post(c, {true, peer, type, n, const_cast<void*>(data), nullptr, nullptr}, stream, "ncclSend");
}
NcclResult ncclRecv(void* data, std::size_t n, int type, int peer, void* c, void* stream) {
  return post(c, {false, peer, type, n, data, nullptr, nullptr}, stream, "ncclRecv");
}
NcclResult ncclGroupStart() {
  ++group.depth;
  return NcclResult::success;
}
NcclResult ncclGroupEnd() {
  if (group.depth == 0) return note("a group is ended that was not begun"), NcclResult::invalid_usage;
  return --group.depth > 0 ? NcclResult::success : close_group();
}

const char* emulated_nccl_misuse() {
  const std::lock_guard lock(global);
  misuse_told = std::exchange(misuse_text, {});
  return misuse_told.c_str();
}

void emulated_nccl_streams(void (*enqueue)(void* stream, std::function<void()> work),
                           void (*transfer_with)(const std::vector<const void*>& touched,
                                                 const std::function<void()>& work)) {
  enqueue_on = enqueue;
  transfer = transfer_with;
}

void emulated_nccl_lose(int rank) {
  lost_rank = rank;
  std::vector<std::shared_ptr<Clique>> all;
  {
    const std::lock_guard lock(global);
    for (auto& [id, clique] : cliques) all.push_back(clique);
  }
  for (auto& clique : all) {
    { const std::lock_guard lock(clique->mutex); }
    clique->changed.notify_all();
  }
}
}
