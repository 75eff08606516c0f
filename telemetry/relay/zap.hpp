// Authentication for a relay with keys: answers libzmq's ZAP requests (RFC 27), and accepts only listed CURVE keys.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zmq {
class context_t;
class socket_t;
}  // namespace zmq

namespace rankscope {

enum class Role : std::uint8_t { worker, viewer };
std::string_view name_of(Role role);

/// An accepted key and its permissions.
struct AdmittedKey {
  std::string public_key;  ///< Z85
  Role role = Role::viewer;
};

/// The owner of a connection, from the "User-Id" that the handler set; nullopt if it set none.
std::optional<AdmittedKey> caller_of(std::string_view user_id);

class RevokedKeys;

class ZapHandler {
 public:
  /// Must exist before the relay's socket is bound. The admitted key with its role becomes the connection's "User-Id".
  /// `revoked` must outlive it.
  ZapHandler(zmq::context_t& context, std::vector<AdmittedKey> admitted, const RevokedKeys& revoked);
  ~ZapHandler();

  zmq::socket_t& socket();
  /// Answers all pending requests.
  void answer();
  std::int64_t rejected() const;

  static constexpr const char* domain = "rankscope";

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
