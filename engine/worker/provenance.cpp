#include "engine/worker/provenance.hpp"

#include <ctime>

#include "engine/prove/calibrate/machine.hpp"

namespace rankscope {

std::string host_name() { return this_machine().host; }

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace rankscope
