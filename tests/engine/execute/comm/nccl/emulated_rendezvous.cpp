#include "tests/engine/execute/comm/nccl/emulated_rendezvous.hpp"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/engine/execute/comm/nccl/emulated_state.hpp"

namespace emulated_nccl {
namespace {

constexpr int most_members = 8;
// Only what is touched takes memory.
constexpr std::size_t given_bytes = std::size_t{8} << 20, box_bytes = std::size_t{2} << 20, head_bytes = 1 << 16;
constexpr std::size_t all_bytes = head_bytes + most_members * given_bytes + most_members * most_members * box_bytes;
constexpr long look_every_ns = 5'000'000;

}  // namespace

struct Rendezvous::Shared {
  struct Given {
    std::uint64_t given = 0, taken = 0;  ///< collectives that this member has given its part of, and is done with
    char signature[96] = "";             ///< of the latest
  };
  /// One message at a time from one member to another.
  struct Box {
    std::uint64_t sent = 0, taken = 0;
    std::size_t bytes = 0;
  };
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int ranks = 0;  ///< 0: nobody has come
  bool has_arrived[most_members] = {};
  Given given[most_members];
  Box boxes[most_members][most_members];

  int arrivals() const { return static_cast<int>(std::count(has_arrived, has_arrived + most_members, true)); }
};

/// A member that died with it leaves it to the next.
class Rendezvous::Lock {
 public:
  explicit Lock(Shared& shared) : shared_(shared) { take(pthread_mutex_lock(&shared_.mutex)); }
  ~Lock() { pthread_mutex_unlock(&shared_.mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  void notify() { pthread_cond_broadcast(&shared_.changed); }
  /// Until somebody tells, or a little while.
  void wait() {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += look_every_ns;
    if (until.tv_nsec >= 1'000'000'000) until.tv_nsec -= 1'000'000'000, ++until.tv_sec;
    take(pthread_cond_timedwait(&shared_.changed, &shared_.mutex, &until));
  }
  /// Copies without it.
  template <class Work>
  void apart(Work work) {
    pthread_mutex_unlock(&shared_.mutex);
    work();
    take(pthread_mutex_lock(&shared_.mutex));
  }

 private:
  void take(int result) {
    if (result == EOWNERDEAD) pthread_mutex_consistent(&shared_.mutex);
  }
  Shared& shared_;
};

std::string Rendezvous::make() {
  static std::atomic<int> made{0};
  const std::string name = "/rankscope-nccl-" + std::to_string(getpid()) + "-" + std::to_string(++made);
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(all_bytes)) != 0) std::abort();
  void* const memory = mmap(nullptr, head_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) std::abort();
  static_assert(sizeof(Shared) <= head_bytes);
  auto* shared = new (memory) Shared;
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&shared->mutex, &mutex);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
  pthread_cond_init(&shared->changed, &condition);
  munmap(memory, head_bytes);
  return name;
}

Rendezvous::Rendezvous(const std::string& name, int ranks, int member) : name_(name), ranks_(ranks), member_(member) {
  const int file = shm_open(name.c_str(), O_RDWR, 0600);
  if (file < 0 || ranks > most_members || member < 0 || member >= most_members) std::abort();
  void* const memory = mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  close(file);
  if (memory == MAP_FAILED) std::abort();
  shared_ = static_cast<Shared*>(memory);
  Lock lock(*shared_);
  if (shared_->ranks == 0) shared_->ranks = ranks;
  if (shared_->ranks != ranks || member >= ranks || shared_->has_arrived[member])
    note("two members of a communicator with the same rank, or different ideas of how many there are");
  shared_->has_arrived[member] = true;
  if (shared_->arrivals() == ranks) shm_unlink(name.c_str());  // who maps it has it
  lock.notify();
}

Rendezvous::~Rendezvous() {
  remove_name();
  munmap(shared_, all_bytes);
}

void Rendezvous::remove_name() const { shm_unlink(name_.c_str()); }  // removed already if all have arrived

bool Rendezvous::is_complete() const {
  const Lock lock(*shared_);
  return shared_->arrivals() >= ranks_;
}

std::byte* Rendezvous::given_by(int member) const {
  return reinterpret_cast<std::byte*>(shared_) + head_bytes + static_cast<std::size_t>(member) * given_bytes;
}
std::byte* Rendezvous::box(int from, int to) const {
  return given_by(most_members) + static_cast<std::size_t>(from * most_members + to) * box_bytes;
}

Outcome Rendezvous::run(const Collective& call, std::uint64_t number, const Stop& stop) {
  Shared::Given& mine = shared_->given[member_];
  const std::size_t input = input_bytes(call, ranks_, member_);
  if (input > given_bytes) std::abort();
  state().transfer({call.from}, [&] { std::memcpy(given_by(member_), call.from, input); });
  Lock lock(*shared_);
  std::snprintf(mine.signature, sizeof mine.signature, "%s", call.signature().c_str());
  mine.given = number + 1;
  lock.notify();
  const auto all = [&](std::uint64_t Shared::Given::*count) {
    return std::all_of(shared_->given, shared_->given + ranks_,
                       [&](const Shared::Given& one) { return one.*count > number; });
  };
  while (!all(&Shared::Given::given)) {
    if (stop()) return Outcome::stopped;
    lock.wait();
  }
  for (int other = 0; other < ranks_; ++other)
    if (std::strcmp(shared_->given[other].signature, mine.signature) != 0) {
      note("members of a communicator call " + call.signature() + " and " +
           std::string(shared_->given[other].signature));
      return Outcome::disagreed;
    }
  lock.apart([&] {
    std::vector<const void*> inputs;
    for (int member = 0; member < ranks_; ++member) inputs.push_back(given_by(member));
    state().transfer({call.to}, [&] { perform(call, inputs, member_); });
  });
  mine.taken = number + 1;
  lock.notify();
  while (!all(&Shared::Given::taken)) {  // what lies there is in use until then
    if (stop()) return Outcome::stopped;
    lock.wait();
  }
  return Outcome::done;
}

Outcome Rendezvous::run(const std::vector<Post>& posts, const Stop& stop) {
  enum class At : std::uint8_t { waits, lies_there, done };
  std::vector<At> at(posts.size(), At::waits);
  std::vector<std::uint64_t> sent_as(posts.size());
  Lock lock(*shared_);
  for (;;) {
    bool moved = false;
    for (std::size_t i = 0; i < posts.size(); ++i) {
      const Post& post = posts[i];
      const int from = post.is_send ? member_ : post.peer, to = post.is_send ? post.peer : member_;
      Shared::Box& there = shared_->boxes[from][to];
      // One after the other where there are several between the same two.
      bool is_next = true;
      for (std::size_t before = 0; before < i; ++before)
        is_next = is_next &&
                  (posts[before].is_send != post.is_send || posts[before].peer != post.peer || at[before] == At::done);
      const std::size_t size = bytes(post.type, post.count);
      if (at[i] == At::lies_there && there.taken >= sent_as[i]) {
        at[i] = At::done;
        moved = true;
      } else if (at[i] == At::waits && is_next && post.is_send && there.sent == there.taken) {
        if (size > box_bytes) std::abort();
        lock.apart([&] { state().transfer({post.data}, [&] { std::memcpy(box(from, to), post.data, size); }); });
        there.bytes = size;
        sent_as[i] = ++there.sent;
        at[i] = At::lies_there;
        moved = true;
      } else if (at[i] == At::waits && is_next && !post.is_send && there.sent > there.taken) {
        const bool fits = there.bytes == size;
        if (fits)
          lock.apart([&] { state().transfer({post.data}, [&] { std::memcpy(post.data, box(from, to), size); }); });
        ++there.taken;
        at[i] = At::done;
        moved = true;
        if (!fits) {
          note("rank " + std::to_string(from) + " and rank " + std::to_string(to) +
               " mean different sizes of a message");
          lock.notify();
          return Outcome::disagreed;
        }
      }
    }
    if (moved) {
      lock.notify();
      continue;
    }
    if (std::all_of(at.begin(), at.end(), [](At one) { return one == At::done; })) return Outcome::done;
    if (stop()) return Outcome::stopped;
    lock.wait();
  }
}

}  // namespace emulated_nccl
