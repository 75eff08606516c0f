// The relay between workers and viewers: one bound port that both connect to. It owns a thread, keeps the session's log
// and its latest detail, and never lets a viewer slow down a worker.
//
// In local runs it is part of the supervisor, reads the workers' spools and feeds recorder and store through taps,
// which receive every message once; it also runs alone (rankscope-trace relay).
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "telemetry/event/codec.hpp"
#include "telemetry/event/event.hpp"
#include "telemetry/relay/zap.hpp"
#include "telemetry/stream/join.hpp"

namespace rankscope {

struct RelayOptions {
  std::string endpoint;  ///< to bind: ipc:///DIRECTORY/NAME, tcp://127.0.0.1:* or, with keys, any tcp address
  CurveKeys keys;        ///< the relay's own; empty: no encryption, this machine only
  std::vector<AdmittedKey> admitted;  ///< with keys: those that may connect
  /// Join files with those keys; keys listed beside them by `rankscope-trace revoke` are rejected from then on.
  std::vector<std::string> join_files;
  std::string run_secret;  ///< shared with workers (worker_proof.hpp); empty: the relay creates one
  /// A second endpoint, for workers on this machine: ipc in a directory of mode 0700, which needs no keys. Empty: none.
  std::string worker_endpoint;
  SessionId session{};          ///< zeros: the first session that a worker sends
  std::string spool_directory;  ///< of the workers, if it can be read from here
  /// Of the latest detail, shared by all viewers; older detail is read from the spools.
  std::size_t ring_bytes = std::size_t{64} << 20;
  std::uint64_t worker_window = 512;              ///< messages of a worker that may be in flight
  std::chrono::milliseconds hole_limit{2000};     ///< messages that are missing for longer become a gap
  std::chrono::milliseconds viewer_limit{10000};  ///< a viewer silent for longer is dropped; it may reconnect
  DecodeLimits limits;
  /// May be empty: called on the relay's thread when the process of that rank has sent its heartbeat.
  std::function<void(std::int32_t rank)> alive{};
};

struct RelayStatus {
  SessionId session{};
  std::int64_t workers = 0, viewers = 0;  ///< connections now
  std::int64_t joined = 0;  ///< viewers that have joined since the start; a viewer that reconnects counts again
  std::int64_t messages = 0, bytes = 0;   ///< accepted, each once
  std::int64_t log_messages = 0;          ///< of these: control and summaries
  std::int64_t doubled = 0;
  std::int64_t garbage = 0;    ///< not telemetry, damaged, out of range, or of another session
  std::int64_t unknown = 0;    ///< of a newer kind
  std::int64_t recovered = 0;  ///< messages read from a spool and not received through the socket
  std::int64_t lost = 0;       ///< messages that are lost: reported as gaps
  std::int64_t missed = 0;     ///< detail messages dropped from the ring before a viewer got them, over all viewers
  std::int64_t forgotten = 0;  ///< viewers dropped for silence
  std::int64_t rejected = 0;   ///< handshakes with keys that are not listed
  std::int64_t forged = 0;     ///< workers' messages from peers that did not prove to be workers: ignored
  std::int64_t revoked = 0;    ///< connections closed because their key was revoked
  std::string last_garbage;    ///< the reason
};

class Relay {
 public:
  /// Binds and starts. `taps` must outlive it; they are called on its thread and receive everything: if they are slow,
  /// the workers' detail waits in the spools. Throws JoinError for an endpoint that check_publishable rejects or that
  /// cannot be bound.
  explicit Relay(RelayOptions options, std::vector<EventSink*> taps = {});
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  const std::string& endpoint() const;  ///< with the port chosen by the system
  /// What a viewer needs to connect. `host` replaces a wildcard address; empty: this machine's name.
  Join join(const CurveKeys& client = {}, const std::string& host = {}) const;
  /// What a worker needs to connect, including the run's secret. It uses the workers' endpoint, if any.
  Join worker_join(const CurveKeys& client = {}, const std::string& host = {}) const;

  /// Sends a message in the supervisor's name (rank -1), such as the session's End.
  void publish(Event event);
  /// Call it when the workers have ended: reads the spools to their ends, so that log, ring and taps are complete, then
  /// waits until all connected viewers have received it, and until `awaited` viewers have joined. False: the limit was
  /// reached first.
  bool finish(std::chrono::milliseconds limit, std::int64_t awaited = 0);

  RelayStatus status() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Keys for a relay, for its workers, and for each of its join files.
struct RelayKeys {
  CurveKeys relay, worker;
  std::vector<CurveKeys> viewers;
  std::vector<AdmittedKey> admitted() const;
};
RelayKeys new_relay_keys(std::size_t viewers = 1);

}  // namespace rankscope
