// A student's own key (Ed25519, by libsodium), which binds a name to one student of a class: the first key that uses a
// name owns it, and other keys are rejected.
//
// The proof is a signature of the class's key, the teacher's challenge to this connection, and the name: it is invalid
// in another class, on another connection, and for another name.
#pragma once
#include <string>
#include <string_view>

namespace rankscope::classroom {

inline constexpr std::size_t public_key_length = 40, proof_length = 80, challenge_length = 40;  ///< of Z85

class Identity {
 public:
  /// A new one, not saved.
  Identity();
  /// The one in this file, mode 0600; created if it does not exist, with its folder. Throws JoinError.
  explicit Identity(const std::string& path);

  const std::string& public_key() const { return public_key_; }
  std::string prove(std::string_view class_key, std::string_view challenge, std::string_view name) const;

 private:
  std::string public_key_, secret_key_;  // the latter raw
};

bool is_proof(const std::string& public_key, const std::string& proof, std::string_view class_key,
              std::string_view challenge, std::string_view name);

/// The teacher's challenges: one for each connection; nothing is stored for connections that never answer.
class Challenges {
 public:
  Challenges();
  std::string of(std::string_view connection) const;  ///< Z85

 private:
  std::string key_;  // raw
};

}  // namespace rankscope::classroom
