#include "telemetry/stream/join.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/base/host/provenance.hpp"
#include "engine/op/words.hpp"
#include "telemetry/stream/z85.hpp"

namespace rankscope {
namespace {

constexpr std::string_view scheme = "rankscope://";
constexpr std::size_t longest_ipc_path = 107;  // sockaddr_un

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

std::string system_error(const std::string& what) { return what + ": " + std::strerror(errno); }

std::string trimmed(std::string_view text) {
  constexpr const char* blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(blank) - first + 1));
}

std::string checked_key(std::string_view key, const char* which) {
  const std::string text(key);
  if (!is_z85_key(text)) throw JoinError(std::string("join string: the ") + which + " key is not 40 characters of Z85");
  return text;
}

// libzmq uses a port beyond 65535 modulo 65536.
void check_port(const std::string& endpoint) {
  const auto colon = endpoint.rfind(':');
  if (endpoint.compare(colon, 3, "://") == 0)
    throw JoinError("'" + endpoint + "' has no port; it should be tcp://HOST:PORT");
  const std::string port = endpoint.substr(colon + 1);
  if (port == "*") return;
  unsigned number = 0;
  const auto [end, bad] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (bad != std::errc{} || end != port.data() + port.size() || number > 65535)
    throw JoinError("'" + endpoint + "' has no port that can be: '" + port +
                    "' is none from 1 to 65535, nor * (to bind to a free one)");
}

std::string checked_endpoint(const std::string& endpoint) {
  const auto colon = endpoint.find("://");
  const std::string transport = endpoint.substr(0, colon);
  if (colon == std::string::npos || (transport != "tcp" && transport != "ipc" && transport != "inproc"))
    throw JoinError("'" + endpoint + "' is no endpoint; it should be tcp://HOST:PORT or ipc:///PATH");
  const std::string address = endpoint.substr(colon + 3);
  if (address.empty()) throw JoinError("'" + endpoint + "' has no address");
  if (transport == "tcp") check_port(endpoint);
  if (transport == "ipc" && address.size() > longest_ipc_path)
    throw JoinError("'" + endpoint + "' is longer than a socket's path may be (107 bytes)");
  return endpoint;
}

bool is_loopback_host(std::string host) {
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host == "localhost" || host == "::1") return true;
  if (starts(host, "::ffff:")) host = host.substr(7);  // an IPv4 address in IPv6 form
  // Only four plain numbers: "127.evil.org" is a name.
  int dots = 0;
  for (const char c : host) {
    if (c == '.')
      ++dots;
    else if (c < '0' || c > '9')
      return false;
  }
  return dots == 3 && starts(host, "127.");
}

/// As much as a join file may have, and more: any file may be given for one.
std::string begin_of(std::istream& in) {
  std::string text(4096, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

CurveKeys new_curve_keys() {
  std::array<char, z85_key_length + 1> public_key{}, secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0)
    throw JoinError("this libzmq was built without CURVE, so other machines cannot connect safely");
  return {public_key.data(), secret_key.data()};
}

std::string reachable_endpoint(const std::string& bound, const std::string& host) {
  constexpr std::string_view tcp = "tcp://", mapped = "[::ffff:";
  const std::size_t colon = bound.rfind(':');
  if (!starts(bound, tcp) || colon < tcp.size()) return bound;
  std::string address = bound.substr(tcp.size(), colon - tcp.size());
  const std::string port = bound.substr(colon);
  if (starts(address, mapped)) address = address.substr(mapped.size(), address.size() - mapped.size() - 1);
  if (address == "0.0.0.0" || address == "[::]" || address == "*") address = host.empty() ? host_name() : host;
  return std::string(tcp) + address + port;
}

std::string to_string(const Join& join) {
  const auto colon = join.endpoint.find("://");
  std::string text(scheme);
  text += join.endpoint.substr(0, colon) + "/" + (colon == std::string::npos ? "" : join.endpoint.substr(colon + 3));
  if (join.secured() || join.holds_secret()) text += "#";
  if (join.secured()) text += join.server_key + join.keys.public_key + join.keys.secret_key;
  text += join.run_secret;
  return text;
}

Join parse_join(std::string_view given) {
  const std::string text = trimmed(given);
  Join join;
  if (!starts(text, scheme)) {
    join.endpoint = checked_endpoint(text);
    return join;
  }
  std::string_view rest = std::string_view(text).substr(scheme.size());
  const auto slash = rest.find('/');
  if (slash == std::string_view::npos)
    throw JoinError("join string: no address; it should be rankscope://TRANSPORT/ADDRESS#KEYS");
  const std::string transport(rest.substr(0, slash));
  rest = rest.substr(slash + 1);
  const auto hash = rest.find('#');  // a Z85 key may contain '#' too, an address may not
  join.endpoint = checked_endpoint(transport + "://" + std::string(rest.substr(0, hash)));
  if (hash == std::string_view::npos) return join;
  const std::string_view keys = rest.substr(hash + 1);
  const std::size_t texts = keys.size() / z85_key_length;
  if (keys.size() % z85_key_length != 0 || texts == 0 || texts == 2 || texts > 4)
    throw JoinError(fmt::format(
        "join string: {} of keys, but a viewer's has 120, a worker's 160, or 40 without encryption; is it incomplete?",
        counted(keys.size(), "character")));
  const auto text_at = [&](std::size_t i, const char* which) {
    return checked_key(keys.substr(i * z85_key_length, z85_key_length), which);
  };
  if (texts >= 3) {
    join.server_key = text_at(0, "server");
    join.keys.public_key = text_at(1, "public");
    join.keys.secret_key = text_at(2, "secret");
  }
  if (texts != 3) join.run_secret = text_at(texts - 1, "run's");
  return join;
}

void write_private_file(const std::string& path, const std::string& text) {
  std::string temporary = path + ".XXXXXX";
  const int file = mkstemp(temporary.data());  // mode 0600 for any umask
  if (file < 0) throw JoinError(system_error(path));
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (close(file) != 0 || !written || rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = system_error(path);
    unlink(temporary.c_str());
    throw JoinError(why);
  }
}

void write_join_file(const std::string& path, const Join& join) { write_private_file(path, to_string(join) + "\n"); }

Join read_join_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw JoinError(system_error(path));
  const std::string text = begin_of(in);
  Join join;
  try {
    join = parse_join(text);
  } catch (const JoinError& e) {
    const std::string first = trimmed(text);
    const bool is_join = starts(first, scheme) || starts(first, "tcp://") || starts(first, "ipc://");
    throw JoinError(is_join ? path + ": " + e.what() : path + " is not a join file; give the file from --join-file");
  }
  struct stat info {};
  if (join.holds_secret() && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
      (info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw JoinError(path + ": other users can read this file and its secret; it should have mode 0600");
  return join;
}

bool is_this_machine(std::string_view endpoint) {
  if (starts(endpoint, "ipc://") || starts(endpoint, "inproc://")) return true;
  if (!starts(endpoint, "tcp://")) return false;
  std::string_view address = endpoint.substr(6);
  // tcp://source;destination, of connecting endpoints: the check is on the destination.
  if (const auto source = address.find(';'); source != std::string_view::npos) address = address.substr(source + 1);
  return is_loopback_host(std::string(address.substr(0, address.rfind(':'))));
}

void check_publishable(const std::string& endpoint, bool has_keys) {
  checked_endpoint(endpoint);
  if (has_keys) return;
  if (!is_this_machine(endpoint))
    throw JoinError(
        "'" + endpoint +
        "' is visible to other machines, and there are no keys; create them with --join-file FILE, or use ipc:// or "
        "tcp://127.0.0.1:PORT and an ssh tunnel");
  if (!starts(endpoint, "ipc://")) return;
  const std::string path = endpoint.substr(6);
  if (path.front() == '@' || path.front() == '*')
    throw JoinError("'" + endpoint + "' has no private directory; use ipc:///DIRECTORY/NAME");
  const std::filesystem::path parent = std::filesystem::absolute(path).parent_path();
  struct stat info {};
  if (stat(parent.c_str(), &info) != 0) throw JoinError(system_error(parent.string()));
  if (info.st_uid != geteuid() || (info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw JoinError("'" + endpoint + "': others can enter " + parent.string() +
                    "; the socket's directory should belong to you and have mode 0700");
}

std::string make_private_directory(const std::string& prefix) {
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* base = std::getenv(variable);
    if (!base || !*base) continue;
    std::string path = std::string(base) + "/" + prefix + "XXXXXX";
    if (mkdtemp(path.data())) return path;
  }
  std::string path = "/tmp/" + prefix + "XXXXXX";
  if (!mkdtemp(path.data())) throw JoinError(system_error(path));
  return path;
}

}  // namespace rankscope
