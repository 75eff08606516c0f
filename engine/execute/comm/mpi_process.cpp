#include "engine/execute/comm/mpi_process.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/comm/group.hpp"
#include "kernels/tensor/sum.hpp"

namespace rankscope::comm {

using namespace std::chrono_literals;

namespace {

constexpr int failure_tag = 1, leave_arrive_tag = 2, leave_release_tag = 3, stop_tag = 4;

void add_bf16(void* in, void* inout, int* count, MPI_Datatype*) { add_to(DType::bf16, inout, in, *count); }
void add_fp16(void* in, void* inout, int* count, MPI_Datatype*) { add_to(DType::f16, inout, in, *count); }

MpiElement half_element(MPI_User_function* add) {
  MpiElement element;
  check("MPI_Type_contiguous", MPI_Type_contiguous(2, MPI_BYTE, &element.type));
  check("MPI_Type_commit", MPI_Type_commit(&element.type));
  check("MPI_Op_create", MPI_Op_create(add, 1, &element.sum));
  return element;
}

MPI_Comm copy_of_world() {
  MPI_Comm copy = MPI_COMM_NULL;
  check("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &copy));
  check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
  return copy;
}

// Waits increasingly longer between two polls.
class Backoff {
 public:
  explicit Backoff(Clock::duration awake) : awake_(awake) {}
  void pause() {
    const auto waited = Clock::now() - begin_;
    if (waited < awake_)
      sched_yield();
    else
      std::this_thread::sleep_for(std::clamp<Clock::duration>(waited / 16, 20us, 1ms));
  }

 private:
  Clock::duration awake_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

void check(const char* function, int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw CommError(std::string(function) + ": " + text);
}

MpiProcess::MpiProcess(CommOptions options) : options_(std::move(options)) {
  int initialised = 0, provided = 0;
  check("MPI_Initialized", MPI_Initialized(&initialised));
  if (initialised) throw CommError("MPI is already in use in this process: there is one mpi world, made once");
  check("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided));
  if (provided < MPI_THREAD_MULTIPLE)
    throw CommError("this MPI does not let several threads talk at once (MPI_THREAD_MULTIPLE), and every lane is one");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  bookkeeping_ = copy_of_world();
  control_ = copy_of_world();
  make_elements();
}

void MpiProcess::make_elements() {
  auto& e = elements_;
  e[static_cast<std::size_t>(DType::f64)] = {MPI_DOUBLE, MPI_SUM};
  e[static_cast<std::size_t>(DType::f32)] = {MPI_FLOAT, MPI_SUM};
  e[static_cast<std::size_t>(DType::bf16)] = half_element(add_bf16);
  e[static_cast<std::size_t>(DType::f16)] = half_element(add_fp16);
  e[static_cast<std::size_t>(DType::i32)] = {MPI_INT32_T, MPI_SUM};
  e[static_cast<std::size_t>(DType::u8)] = {MPI_UINT8_T, MPI_SUM};
}

// MPI_Finalize waits for all processes without a limit, so check first that all have reached it.
bool MpiProcess::leave_together() {
  if (failed_) return false;
  try {
    const std::vector<int> everyone = [&] {
      std::vector<int> ranks(size_);
      for (int r = 0; r < size_; ++r) ranks[r] = r;
      return ranks;
    }();
    arrive(*this, {control_, everyone, rank_, leave_arrive_tag, leave_release_tag, "MPI_Finalize", Lane::copy});
    return true;
  } catch (const CommError&) {
    return false;
  }
}

MpiProcess::~MpiProcess() {
  if (!leave_together()) return;  // mpirun then ends the job when this process exits
  for (DType half : {DType::bf16, DType::f16}) {
    MpiElement element = this->element(half);
    MPI_Type_free(&element.type);
    MPI_Op_free(&element.sum);
  }
  MPI_Comm_free(&bookkeeping_);
  MPI_Comm_free(&control_);
  MPI_Finalize();
}

bool MpiProcess::note_failure(const std::string& why) {
  std::lock_guard lock(mutex_);
  if (failed_) return false;
  failure_ = why;
  failed_ = true;
  return true;
}

std::string MpiProcess::fail(const std::string& why) {
  if (note_failure(why)) notify_others(why);
  std::lock_guard lock(mutex_);
  return failure_;
}

void MpiProcess::ask_to_stop() {
  if (asked_to_stop_.exchange(true)) return;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_BYTE, peer, stop_tag, control_, &request);
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

// One message to each, without waiting: some may be dead.
void MpiProcess::notify_others(const std::string& why) {
  auto text = std::make_unique_for_overwrite<std::byte[]>(why.size());
  std::memcpy(text.get(), why.data(), why.size());
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(text.get(), static_cast<int>(why.size()), MPI_BYTE, peer, failure_tag, control_, &request);
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  keep(std::move(text));
}

void MpiProcess::keep(std::unique_ptr<std::byte[]> memory) {
  std::lock_guard lock(mutex_);
  kept_.push_back(std::move(memory));
}

/// False: no message of that tag has arrived.
bool MpiProcess::receive_note(int tag, std::string& text) {
  int has_arrived = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check("MPI_Improbe", MPI_Improbe(MPI_ANY_SOURCE, tag, control_, &has_arrived, &message, &status));
  if (!has_arrived) return false;
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  text.resize(static_cast<std::size_t>(length));
  check("MPI_Mrecv", MPI_Mrecv(text.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE));
  return true;
}

// Any waiting thread checks, about fifty times a second.
void MpiProcess::listen() {
  constexpr std::int64_t every_ns = 20'000'000;
  if (monotonic_ns() - listened_ns_ < every_ns) return;
  std::unique_lock lock(listening_, std::try_to_lock);
  if (!lock) return;
  listened_ns_ = monotonic_ns();
  std::string text;
  if (receive_note(failure_tag, text)) note_failure(text);
  if (receive_note(stop_tag, text)) asked_to_stop_ = true;
}

void MpiProcess::throw_if_failed() {
  if (!failed_) return;
  std::lock_guard lock(mutex_);
  throw CommError(failure_);
}

void MpiProcess::wait_until(const std::function<bool()>& done, Clock::time_point deadline,
                            const std::function<std::string()>& too_late, Waiting what) {
  Backoff backoff(what == Waiting::for_peers ? 30us : 1ms);
  while (!done()) {
    listen();
    throw_if_failed();
    if (Clock::now() > deadline) throw CommError(fail(too_late()));
    backoff.pause();
  }
}

void MpiProcess::wait(std::span<MPI_Request> requests, Clock::time_point deadline,
                      const std::function<std::string()>& too_late, Waiting what) {
  const auto all_are_done = [&] {
    int done = 0;
    check("MPI_Testall", MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
    return done != 0;
  };
  const auto name_missing = [&] {
    for (MPI_Request& request : requests) {  // so that `too_late` can find the pending ones
      int one_done = 0;
      if (request != MPI_REQUEST_NULL) MPI_Test(&request, &one_done, MPI_STATUS_IGNORE);
    }
    return too_late();
  };
  try {
    wait_until(all_are_done, deadline, name_missing, what);
  } catch (const CommError&) {
    if (what != Waiting::for_collective)
      for (MPI_Request& request : requests) {
        if (request == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&request);
        MPI_Request_free(&request);
      }
    throw;
  }
}

namespace {

std::string disagreement(const Arrival& arrival, int peer, const ArrivalWord& theirs, const ArrivalWord& mine) {
  const std::string they = fmt::format("rank {}", arrival.ranks[peer]);
  const std::string we = fmt::format("rank {}", arrival.ranks[0]), where = std::string(name_of(arrival.lane));
  if (arrival.is_collective)
    return we + " calls " + describe(mine) + ", " + they + " " + describe(theirs) + ", on lane " + where;
  return we + " and " + they + " do not mean the same by " + arrival.call + " on lane " + where;
}

}  // namespace

std::int64_t arrive(MpiProcess& process, const Arrival& arrival, const ArrivalWord& word) {
  const auto limit = process.options().time_limit;
  const auto deadline = deadline_after(limit);
  const int n = static_cast<int>(arrival.ranks.size());
  constexpr auto for_peers = MpiProcess::Waiting::for_peers;
  constexpr int length = sizeof(ArrivalWord);
  auto rank_in_comm = [&](int member) { return arrival.comm_is_world ? arrival.ranks[member] : member; };
  auto vain = [&](std::span<const int> missing) {
    return timeout_message(process.rank(), limit, arrival.call, arrival.lane, missing);
  };
  process.throw_if_failed();
  // MPI may use the words and requests of a failed wait until the process ends.
  auto memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(n) * length);
  auto* words = reinterpret_cast<ArrivalWord*>(memory.get());
  std::vector<MPI_Request> requests;
  try {
    if (arrival.index != 0) {
      words[0] = word;
      requests.assign(2, MPI_REQUEST_NULL);
      check("MPI_Irecv",
            MPI_Irecv(nullptr, 0, MPI_BYTE, rank_in_comm(0), arrival.release_tag, arrival.comm, &requests[0]));
      check("MPI_Isend",
            MPI_Isend(&words[0], length, MPI_BYTE, rank_in_comm(0), arrival.arrive_tag, arrival.comm, &requests[1]));
      const auto grace = std::min<Clock::duration>(limit / 4, std::chrono::seconds(2));
      process.wait(
          requests, deadline + grace, [&] { return vain(arrival.ranks.first(1)); }, for_peers);
      return monotonic_ns();
    }
    requests.assign(n - 1, MPI_REQUEST_NULL);
    for (int peer = 1; peer < n; ++peer)
      check("MPI_Irecv", MPI_Irecv(&words[peer], length, MPI_BYTE, rank_in_comm(peer), arrival.arrive_tag, arrival.comm,
                                   &requests[peer - 1]));
    process.wait(
        requests, deadline,
        [&] {
          std::vector<int> missing;
          for (int peer = 1; peer < n; ++peer)
            if (requests[peer - 1] != MPI_REQUEST_NULL) missing.push_back(arrival.ranks[peer]);
          return vain(missing);
        },
        for_peers);
    const std::int64_t met_ns = monotonic_ns();
    for (int peer = 1; peer < n; ++peer)
      if (words[peer] != word) throw CommError(process.fail(disagreement(arrival, peer, words[peer], word)));
    for (int peer = 1; peer < n; ++peer)
      check("MPI_Isend", MPI_Isend(nullptr, 0, MPI_BYTE, rank_in_comm(peer), arrival.release_tag, arrival.comm,
                                   &requests[peer - 1]));
    process.wait(
        requests, deadline, [&] { return vain(arrival.ranks.subspan(1)); }, for_peers);
    return met_ns;
  } catch (...) {
    process.keep(std::move(memory));
    throw;
  }
}

}  // namespace rankscope::comm
