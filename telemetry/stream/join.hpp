// Join strings: what a worker or viewer needs to reach a relay (endpoint and CURVE keys). Also checks which endpoints
// are safe to open without keys.
//
// A join string is rankscope://TRANSPORT/ADDRESS, followed by # and the credentials: with keys SERVER PUBLIC SECRET;
// for workers the run's secret after these, or alone if there are no keys. Each is a Z85 text of 40 characters, without
// separators. It contains a secret, so it is stored in files of mode 0600, an environment variable or standard input,
// never in an argument list.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace rankscope {

/// what() is one line with the error and the correction.
struct JoinError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A CURVE key pair in Z85: 40 characters each.
struct CurveKeys {
  std::string public_key, secret_key;
  bool empty() const { return public_key.empty(); }
};
/// A new pair; throws JoinError if libzmq was built without CURVE.
CurveKeys new_curve_keys();

struct Join {
  std::string endpoint;         ///< of ZeroMQ: tcp://HOST:PORT or ipc://PATH; empty: no relay
  std::string server_key;       ///< the relay's public key; empty: no encryption
  CurveKeys keys;               ///< this client's own
  std::string run_secret = {};  ///< a worker's (worker_proof.hpp); empty: a viewer's join, which can only read
  bool secured() const { return !server_key.empty(); }
  bool holds_secret() const { return !keys.secret_key.empty() || !run_secret.empty(); }
  bool operator==(const Join& other) const {
    return endpoint == other.endpoint && server_key == other.server_key && keys.public_key == other.keys.public_key &&
           keys.secret_key == other.keys.secret_key && run_secret == other.run_secret;
  }
};

/// The endpoint that others connect to, for a bound one as ZeroMQ reports it: "tcp://[::ffff:0.0.0.0]:5555" is every
/// address of this machine, which others reach as `host` (empty: its host name); IPv4 addresses in IPv6 form are IPv4.
std::string reachable_endpoint(const std::string& bound, const std::string& host = {});

std::string to_string(const Join& join);
/// Throws JoinError. Accepts a plain endpoint (tcp://…, ipc://…) too.
Join parse_join(std::string_view text);

/// Writes a new file of mode 0600, which replaces an older one only when it is complete. Throws JoinError.
void write_private_file(const std::string& path, const std::string& text);
/// Writes the join string to a new file of mode 0600, which replaces an older one when complete. Throws JoinError.
void write_join_file(const std::string& path, const Join& join);
/// Throws JoinError, also if the file contains a secret and others may read it.
Join read_join_file(const std::string& path);

/// True for ipc, inproc and tcp to 127.0.0.0/8, ::1 or localhost.
bool is_this_machine(std::string_view endpoint);
/// Throws JoinError if `endpoint` can be reached from other machines and there are no keys, if its transport is none of
/// tcp, ipc and inproc, or if others can enter an ipc path's directory and there are no keys. Call this before an
/// endpoint is opened.
void check_publishable(const std::string& endpoint, bool has_keys);

/// A new directory of mode 0700 for sockets and spools: in $XDG_RUNTIME_DIR, or $TMPDIR, or /tmp; the name begins with
/// `prefix`. Throws JoinError.
std::string make_private_directory(const std::string& prefix = "rankscope-");

}  // namespace rankscope
