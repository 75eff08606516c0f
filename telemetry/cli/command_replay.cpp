#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <thread>

#include "engine/op/words.hpp"
#include "telemetry/cli/commands.hpp"
#include "telemetry/cli/replayer.hpp"
#include "telemetry/relay/revoked_keys.hpp"

namespace rankscope {
namespace {

using namespace std::chrono_literals;

double speed_of(const std::string& text) {
  if (text == "max") return 0;
  const auto speed = number_in<double>(text);
  if (!speed || !std::isfinite(*speed) || *speed <= 0)
    throw InputError("--speed '" + text + "': a factor such as 1 or 0.1, or max");
  return *speed;
}

// The endpoint to serve: the requested one, or a private socket of this user, whose directory is removed at the end.
class Place {
 public:
  explicit Place(const std::string& publish) : endpoint_(publish) {
    if (!publish.empty()) return;
    directory_ = make_private_directory();
    endpoint_ = "ipc://" + directory_ + "/relay";
  }
  ~Place() {
    if (directory_.empty()) return;
    std::remove((directory_ + "/relay").c_str());
    std::remove(directory_.c_str());
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  const std::string& endpoint() const { return endpoint_; }

 private:
  std::string endpoint_, directory_;
};

// A join file needs keys; without keys only this machine is served.
RelayKeys keys_for(const ServeRequest& request, RelayOptions& relay) {
  if (request.join_files.empty() && (request.worker_join_file.empty() || is_this_machine(relay.endpoint))) return {};
  RelayKeys keys = new_relay_keys(request.join_files.size());
  relay.keys = keys.relay;
  relay.admitted = keys.admitted();
  relay.join_files = request.join_files;
  return keys;
}

void write_viewers_files(const ServeRequest& request, const Relay& relay, const RelayKeys& keys) {
  for (std::size_t i = 0; i < request.join_files.size(); ++i)
    write_join_file(request.join_files[i], relay.join(keys.viewers[i]));
}

}  // namespace

int replay_trace(const ServeRequest& request) {
  ReplayOptions options;
  options.speed = speed_of(request.speed);
  const Place place(request.publish);
  options.relay.endpoint = place.endpoint();
  const RelayKeys keys = keys_for(request, options.relay);
  options.worker = keys.worker;
  options.wait_for_viewers = request.wait;
  options.stay = request.stay;
  options.stop = &stop_asked;
  options.started = [&](const Relay& relay) {
    write_viewers_files(request, relay, keys);
    std::cerr << "replaying " << request.trace << " at " << relay.endpoint() << std::endl;
  };
  const ReplayResult result = replay(request.trace, options);
  print_damage(request.trace, result.damage);
  fmt::print(stderr, "{} messages in {:.1f} s{}\n", result.messages, result.seconds,
             stop_asked        ? ", stopped"
             : result.finished ? ""
                               : "; a viewer did not receive everything");
  return result.finished || stop_asked ? 0 : failed;
}

int run_relay(const ServeRequest& request) {
  RelayOptions options;
  const Place place(request.publish);
  options.endpoint = place.endpoint();
  options.spool_directory = request.spool;
  const RelayKeys keys = keys_for(request, options);
  std::unique_ptr<TraceWriter> trace;
  std::vector<EventSink*> taps;
  if (!request.record.empty()) {
    trace = std::make_unique<TraceWriter>(request.record);
    taps.push_back(trace.get());
  }
  std::int64_t forged = 0;
  {
    Relay relay(options, taps);
    write_viewers_files(request, relay, keys);
    if (!request.worker_join_file.empty()) write_join_file(request.worker_join_file, relay.worker_join(keys.worker));
    std::cerr << "relay at " << relay.endpoint() << "; "
              << (request.worker_join_file.empty() ? "no worker can connect without --worker-join-file"
                                                   : "workers and viewers connect to it")
              << "; Ctrl+C ends it" << std::endl;
    while (!stop_asked) std::this_thread::sleep_for(100ms);
    relay.finish(5s);
    const RelayStatus status = relay.status();
    fmt::print(stderr, "{} messages, {} lost, {} unreadable, {} forged, {} refused, {} revoked\n", status.messages,
               status.lost, status.garbage - status.forged, status.forged, status.rejected, status.revoked);
    forged = status.forged;
  }
  if (trace) trace->count_forged(forged);
  if (trace && !trace->close()) throw std::runtime_error(trace->error());
  return 0;
}

int revoke(const std::string& join_file, const std::string& name_or_key) {
  const std::string key = revoke_key(join_file, name_or_key);
  std::cout << "revoked: " << key
            << (name_or_key.empty() || name_or_key == key ? std::string() : " (" + name_or_key + ")")
            << "; connections with this key are closed within a second\n";
  return 0;
}

}  // namespace rankscope
