// Serves a recording through a relay, so that viewers see it like a live run.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "telemetry/relay/relay.hpp"
#include "telemetry/trace/trace_reader.hpp"

namespace rankscope {

struct ReplayOptions {
  double speed = 1;    ///< speed factor; 0: as fast as possible
  RelayOptions relay;  ///< endpoint, keys and admitted keys; the rest is set here
  CurveKeys worker;    ///< with keys: those of an admitted worker, for this program's own connection
  int wait_for_viewers = 0;
  bool stay = false;  ///< serve late joiners after the end, until stopped
  std::function<void(const Relay&)> started;
  const std::atomic<bool>* stop = nullptr;
};

struct ReplayResult {
  bool finished = false;  ///< false: stopped
  std::int64_t messages = 0;
  double seconds = 0;
  DamageReport damage;
};

/// Throws TraceError and JoinError.
ReplayResult replay(const std::string& path, const ReplayOptions& options);

}  // namespace rankscope
