// How a worker proves to the relay that it belongs to the run, on every endpoint: both have the run's secret, and the
// worker answers the relay's challenge with a message authentication code (HMAC-SHA-512-256, libsodium's crypto_auth).
//
// The secret is a part of a worker's join string (join.hpp). Neither the secret nor anything that replaces it is sent
// over the socket: a challenge is valid for one connection of one relay, so an intercepted answer is useless on
// another.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "telemetry/event/event.hpp"

namespace rankscope {

/// Call it before libsodium is used; repeated calls are allowed. Throws JoinError.
void start_sodium();

/// 32 random bytes in Z85: 40 characters.
std::string new_run_secret();

/// A challenge, or the answer to one.
using ProofCode = std::array<std::byte, 32>;

/// The worker's side. Throws JoinError if `secret` is no run's secret.
ProofCode answer_challenge(const std::string& secret, const SessionId& session, std::uint64_t generation,
                           const ProofCode& challenge);

/// The relay's side. It stores nothing about a connection, so peers that never answer use no memory.
class WorkerCheck {
 public:
  /// Throws JoinError if `secret` is no run's secret.
  explicit WorkerCheck(std::string secret);
  /// The challenge that this peer has to answer. The same peer and generation get the same challenge.
  ProofCode challenge(std::string_view peer, std::uint64_t generation) const;
  bool proves(std::string_view peer, std::uint64_t generation, const SessionId& session,
              std::span<const std::byte> answer) const;
  const std::string& secret() const { return secret_; }

 private:
  std::string secret_;
  std::array<std::uint8_t, 32> own_key_;  // of the challenges; random
};

}  // namespace rankscope
