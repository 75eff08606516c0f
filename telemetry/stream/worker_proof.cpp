#include "telemetry/stream/worker_proof.hpp"

#include <sodium.h>

#include <cstring>

#include "telemetry/stream/join.hpp"
#include "telemetry/stream/z85.hpp"

namespace rankscope {
namespace {

using Key = std::array<std::uint8_t, crypto_auth_KEYBYTES>;
static_assert(crypto_auth_KEYBYTES == 32 && crypto_auth_BYTES == sizeof(ProofCode));

// The purpose of a code, part of the authenticated data. It changes when the format of the data after it changes.
constexpr std::string_view answer_domain = "rankscope worker 2", challenge_domain = "rankscope challenge 2";

Key key_of(const std::string& secret) {
  Key key;
  if (!from_z85(secret, key)) throw JoinError("the run's secret is not 40 characters of Z85");
  return key;
}

void add(std::string& text, std::uint64_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

ProofCode code_of(const Key& key, const std::string& text) {
  ProofCode code;
  crypto_auth(reinterpret_cast<unsigned char*>(code.data()), reinterpret_cast<const unsigned char*>(text.data()),
              text.size(), key.data());
  return code;
}

}  // namespace

void start_sodium() {
  static const int started = sodium_init();
  if (started < 0) throw JoinError("libsodium cannot start: the system gives no random numbers");
}

std::string new_run_secret() {
  start_sodium();
  Key raw;
  randombytes_buf(raw.data(), raw.size());
  return z85(raw);
}

ProofCode answer_challenge(const std::string& secret, const SessionId& session, std::uint64_t generation,
                           const ProofCode& challenge) {
  start_sodium();
  std::string text(answer_domain);
  text.append(reinterpret_cast<const char*>(session.data()), session.size());
  add(text, generation);
  text.append(reinterpret_cast<const char*>(challenge.data()), challenge.size());
  return code_of(key_of(secret), text);
}

WorkerCheck::WorkerCheck(std::string secret) : secret_(std::move(secret)) {
  start_sodium();
  key_of(secret_);
  randombytes_buf(own_key_.data(), own_key_.size());
}

ProofCode WorkerCheck::challenge(std::string_view peer, std::uint64_t generation) const {
  std::string text(challenge_domain);
  add(text, generation);
  text += peer;
  return code_of(own_key_, text);
}

bool WorkerCheck::proves(std::string_view peer, std::uint64_t generation, const SessionId& session,
                         std::span<const std::byte> answer) const {
  const ProofCode right = answer_challenge(secret_, session, generation, challenge(peer, generation));
  return answer.size() == right.size() && sodium_memcmp(answer.data(), right.data(), right.size()) == 0;
}

}  // namespace rankscope
