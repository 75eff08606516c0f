#include "telemetry/classroom/identity.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "telemetry/stream/join.hpp"
#include "telemetry/stream/worker_proof.hpp"
#include "telemetry/stream/z85.hpp"

namespace rankscope::classroom {
namespace {

static_assert(crypto_sign_PUBLICKEYBYTES == 32 && crypto_sign_BYTES == 64 && crypto_auth_BYTES == 32);
constexpr std::string_view proof_domain = "rankscope class 1";

std::string signed_text(std::string_view class_key, std::string_view challenge, std::string_view name) {
  std::string text(proof_domain);
  for (const std::string_view part : {class_key, challenge, name}) {
    text += part;
    text += '\0';
  }
  return text;
}

const unsigned char* bytes_of(const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); }

struct Pair {
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> open;
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> secret;
};

std::string raw_text(const std::array<unsigned char, crypto_sign_SECRETKEYBYTES>& secret) {
  return {reinterpret_cast<const char*>(secret.data()), secret.size()};
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw JoinError(path + ": the key of this student: " + why);
}

// Reads the seed in the file; false: there is no such file.
bool read_seed(const std::string& path, std::array<unsigned char, crypto_sign_SEEDBYTES>& seed) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) return false;
  if (file < 0) fail(path, std::strerror(errno));
  std::array<char, 64> text{};
  struct stat info {};
  const bool known = fstat(file, &info) == 0;
  const ssize_t got = read(file, text.data(), text.size());
  close(file);
  if (!known || (info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    fail(path, "other users can read it; it should have mode 0600");
  std::string key(text.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  while (!key.empty() && key.back() == '\n') key.pop_back();
  if (!from_z85(key, seed)) fail(path, "is not 40 characters of Z85; remove the file to create a new one");
  return true;
}

void write_seed(const std::string& path, const std::array<unsigned char, crypto_sign_SEEDBYTES>& seed) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string text = z85(seed) + "\n";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) fail(path, std::string("cannot be made: ") + std::strerror(errno));
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (close(file) != 0 || !written) {
    unlink(path.c_str());
    fail(path, "cannot be written");
  }
}

}  // namespace

Identity::Identity() {
  start_sodium();
  Pair pair;
  crypto_sign_keypair(pair.open.data(), pair.secret.data());
  public_key_ = z85(pair.open);
  secret_key_ = raw_text(pair.secret);
}

Identity::Identity(const std::string& path) {
  start_sodium();
  std::array<unsigned char, crypto_sign_SEEDBYTES> seed;
  if (!read_seed(path, seed)) {
    randombytes_buf(seed.data(), seed.size());
    write_seed(path, seed);
  }
  Pair pair;
  crypto_sign_seed_keypair(pair.open.data(), pair.secret.data(), seed.data());
  public_key_ = z85(pair.open);
  secret_key_ = raw_text(pair.secret);
}

std::string Identity::prove(std::string_view class_key, std::string_view challenge, std::string_view name) const {
  const std::string text = signed_text(class_key, challenge, name);
  std::array<unsigned char, crypto_sign_BYTES> signature;
  crypto_sign_detached(signature.data(), nullptr, bytes_of(text), text.size(), bytes_of(secret_key_));
  return z85(signature);
}

bool is_proof(const std::string& public_key, const std::string& proof, std::string_view class_key,
              std::string_view challenge, std::string_view name) {
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> key;
  std::array<unsigned char, crypto_sign_BYTES> signature;
  if (!from_z85(public_key, key) || !from_z85(proof, signature)) return false;
  const std::string text = signed_text(class_key, challenge, name);
  return crypto_sign_verify_detached(signature.data(), bytes_of(text), text.size(), key.data()) == 0;
}

Challenges::Challenges() : key_(crypto_auth_KEYBYTES, '\0') {
  start_sodium();
  randombytes_buf(key_.data(), key_.size());
}

std::string Challenges::of(std::string_view connection) const {
  std::array<unsigned char, crypto_auth_BYTES> code;
  crypto_auth(code.data(), reinterpret_cast<const unsigned char*>(connection.data()), connection.size(),
              bytes_of(key_));
  return z85(code);
}

}  // namespace rankscope::classroom
