#include "engine/worker/reach.hpp"
#include "engine/base/host/provenance.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace rankscope {
namespace {

constexpr int answer_limit_ms = 2000;  // for each address
constexpr const char* this_host = "127.0.0.1";

/// Whether a process listens there.
bool answers(const std::string& address, int port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) return false;
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return false;
  connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  pollfd waiting{socket, POLLOUT, 0};
  int error = -1;
  socklen_t size = sizeof error;
  const bool done = poll(&waiting, 1, answer_limit_ms) == 1 &&
                    getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  close(socket);
  return done;
}

}  // namespace

std::vector<std::string> own_addresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, &freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* one = first; one; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET) continue;
    if (!(one->ifa_flags & IFF_UP) || (one->ifa_flags & IFF_LOOPBACK)) continue;
    char text[INET_ADDRSTRLEN] = "";
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (inet_ntop(AF_INET, &address->sin_addr, text, sizeof text)) addresses.emplace_back(text);
  }
  return addresses;
}

Join reachable_relay(const WorkerJob& job) {
  Join join = parse_join(job.join);
  if (job.addresses.empty()) return join;
  const std::size_t colon = join.endpoint.rfind(':');
  const int port = std::stoi(join.endpoint.substr(colon + 1));
  std::vector<std::string> candidates = job.addresses;
  if (host_name() == job.host) candidates.insert(candidates.begin(), this_host);
  for (const std::string& address : candidates)
    if (answers(address, port)) {
      join.endpoint = fmt::format("tcp://{}:{}", address, port);
      return join;
    }
  throw std::runtime_error(
      fmt::format("{} cannot reach the supervisor on {} at port {} of {}; open a port between the hosts and give it "
                  "with --publish tcp://ADDRESS:PORT --join-file FILE",
                  host_name(), job.host, port, fmt::join(candidates, ", ")));
}

}  // namespace rankscope
