// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/own_addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>

namespace rankscope::app {

QStringList own_addresses() {
  QStringList addresses;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) == 0) {
    for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
      const bool reachable = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
      if (!reachable || each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
      std::array<char, INET_ADDRSTRLEN> text{};
      const void* address = &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
      if (inet_ntop(AF_INET, address, text.data(), text.size()) != nullptr)
        addresses << QString::fromLatin1(text.data());
    }
    freeifaddrs(first);
  }
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) addresses << QString::fromLocal8Bit(name.data());
  addresses.removeDuplicates();
  return addresses;
}

}  // namespace rankscope::app
