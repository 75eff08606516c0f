// This process's only MPI session: start and end, waits with a time limit, and failure messages to and from the other
// processes. Only for the mpi files of this folder.
#pragma once
#include <mpi.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/execute/comm/clock.hpp"
#include "engine/execute/comm/options.hpp"
#include "kernels/tensor/type.hpp"

namespace rankscope::comm {

/// MPI's name of an element type, and its operation that adds two of them. bf16 and fp16 are two bytes that our own
/// function adds (in fp32, rounded at every addition).
struct MpiElement {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op sum = MPI_OP_NULL;
};

class MpiProcess {
 public:
  explicit MpiProcess(CommOptions options);
  ~MpiProcess();
  MpiProcess(const MpiProcess&) = delete;
  MpiProcess& operator=(const MpiProcess&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const CommOptions& options() const { return options_; }
  MPI_Comm bookkeeping() const { return bookkeeping_; }  ///< all ranks, for set-up and World::exchange
  const MpiElement& element(DType type) const { return elements_[static_cast<std::size_t>(type)]; }

  /// The purpose of a wait: it determines how long to poll before sleeping.
  enum class Waiting { for_peers, for_bytes, for_collective };
  /// Waits for all requests (null ones are done). Tests and yields (30 µs, or 1 ms if bytes should be moving), then
  /// sleeps between tests, for a sixteenth of the time waited so far and at most 1 ms: ranks share cores. Throws
  /// CommError if the world has failed; after the deadline it fails the world, with the reason that `too_late` returns
  /// for the open requests. In both cases open messages are cancelled, as far as MPI can (not those that have begun,
  /// and no collective).
  void wait(std::span<MPI_Request> requests, Clock::time_point deadline, const std::function<std::string()>& too_late,
            Waiting what);

  /// The same until `done` returns true; it may call MPI.
  void wait_until(const std::function<bool()>& done, Clock::time_point deadline,
                  const std::function<std::string()>& too_late, Waiting what);

  /// Receives another process's message that it has failed or is asked to stop, if one has arrived.
  void listen();
  /// Notifies all processes, this one included; see World.
  void ask_to_stop();
  bool is_asked_to_stop() const { return asked_to_stop_; }
  /// Throws the world's failure, if any.
  void throw_if_failed();
  /// Fails this process's world and notifies the others; the first reason is kept and returned.
  std::string fail(const std::string& why);

  /// Keeps memory that an open request may still write to until the process ends.
  void keep(std::unique_ptr<std::byte[]> memory);

 private:
  void notify_others(const std::string& why);
  bool receive_note(int tag, std::string& text);
  bool note_failure(const std::string& why);
  void make_elements();
  bool leave_together();

  CommOptions options_;
  int rank_ = 0, size_ = 1;
  MPI_Comm bookkeeping_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
  std::array<MpiElement, 6> elements_;

  std::atomic<bool> failed_{false}, asked_to_stop_{false};
  std::mutex mutex_;  // guards the members below
  std::string failure_;
  std::vector<std::unique_ptr<std::byte[]>> kept_;

  std::mutex listening_;
  std::atomic<std::int64_t> listened_ns_{0};
};

/// Throws CommError with MPI's text when `code` is an error: check("MPI_Issend", MPI_Issend(…)).
void check(const char* function, int code);

/// Members of `comm` wait for each other: each sends member 0 its next call, and member 0 then releases all of them.
/// Returns when the last has arrived. If the calls differ, or not all arrive in time, member 0 fails the world, since
/// only it has the list of arrivals; the others wait a little longer for that.
/// `ranks` are the members' world ranks; `call` and `lane` are for the text.
struct Arrival {
  MPI_Comm comm = MPI_COMM_NULL;
  std::span<const int> ranks;
  int index = 0, arrive_tag = 0, release_tag = 0;
  const char* call = "";
  Lane lane = Lane::copy;
  bool is_collective = false;  ///< the words are CallWords
  bool comm_is_world = false;  ///< a member's rank in `comm` is its world rank, not its index
};
using ArrivalWord = std::array<std::int64_t, 4>;  ///< must be equal on all members; a CallWord for collectives
std::int64_t arrive(MpiProcess& process, const Arrival& arrival, const ArrivalWord& word = {});

}  // namespace rankscope::comm
